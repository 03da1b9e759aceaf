package pod

// Status is what is.
type Status struct {
	Phase      Policy
	Conditions []Condition `json:",omitempty"`
	IP         string
	IPs        []struct{ IP string }
	Started    *Time
	Containers []ContainerStatus `json:",omitempty"`
}

// A Condition is a fact.
type Condition struct {
	Type, Status  string
	Probed, Since Time
	Message       string
}

// A ContainerStatus is what a container does.
type ContainerStatus struct {
	Name      string
	State     State
	Last      State
	Ready     bool
	Restarts  int32
	Started   *bool
	Allocated ResourceList
	Resources *Resources
}

// A State has one of its fields.
type State struct {
	Waiting *struct{ Reason, Message string }
	Running *struct{ Since Time }
	Ended   *Ended
}

// Ended is how it ended.
type Ended struct {
	Code    int32
	Reason  string
	At, End Time
}
