package pod

import (
	"encoding/json"
	"math/big"
)

// Spec is what is wanted.
type Spec struct {
	Containers []Container       `json:"containers"`
	Init       []Container       `json:"init,omitempty"`
	Volumes    []Volume          `json:"volumes,omitempty"`
	Restart    Policy            `json:"restart,omitempty"`
	Deadline   *int64            `json:"deadline,omitempty"`
	Selector   map[string]string `json:"selector,omitempty"`
	Node       string            `json:"node,omitempty"`
	HostUsers  *bool             `json:"hostUsers,omitempty"`
	Affinity   *Affinity         `json:"affinity,omitempty"`
	Tolerate   []Toleration      `json:"tolerate,omitempty"`
	Aliases    []HostAlias       `json:"aliases,omitempty"`
	Overhead   ResourceList      `json:"overhead,omitempty"`
}

// A Policy says when to restart.
type Policy string

// A HostAlias gives names to an address.
type HostAlias struct {
	IP    string
	Names []string
}

// A Container runs a program.
type Container struct {
	Name      string
	Image     string
	Command   []string `json:",omitempty"`
	Args      []string `json:",omitempty"`
	Env       []EnvVar `json:",omitempty"`
	Ports     []Port   `json:",omitempty"`
	Resources Resources
	Mounts    []Mount `json:",omitempty"`
	Live      *Probe  `json:",omitempty"`
	Security  *Security
	TTY       bool
}

// A Port is open.
type Port struct {
	Name string
	Host int32
	Port int32
}

// A Mount is where a volume is.
type Mount struct {
	Name, Path  string
	ReadOnly    bool
	Propagation *Policy
}

// A Probe looks whether a container lives.
type Probe struct {
	Exec    *Exec
	Get     *Get
	Seconds int32
	Grace   *int64
}

// Exec is a command.
type Exec struct{ Command []string }

// Get is a request.
type Get struct {
	Path    string
	Port    IntOrString
	Headers []struct{ Name, Value string }
}

// IntOrString is one of both.
type IntOrString struct {
	IsText bool
	N      int32
	Text   string
}

// Security is what a container may do.
type Security struct {
	Add, Drop  []Policy
	Privileged *bool
	User       *int64
}

// An EnvVar is a variable of the environment.
type EnvVar struct {
	Name  string
	Value string
	From  *EnvSource
}

// An EnvSource is where its value is from.
type EnvSource struct {
	Field  *struct{ Path string }
	Config *KeySelector
	Secret *KeySelector
}

// A KeySelector is a key of an object.
type KeySelector struct {
	Name, Key string
	Optional  *bool
}

// A Volume is a directory.
type Volume struct {
	Name   string
	Source `json:",inline"`
}

// Source is where its files are from.
type Source struct {
	Empty  *EmptyDir
	Config *ConfigMap
	Claim  *struct {
		Name     string
		ReadOnly bool
	}
}

// EmptyDir is empty at first.
type EmptyDir struct {
	Medium string
	Limit  *Quantity
}

// ConfigMap has files.
type ConfigMap struct {
	Name  string
	Items []struct {
		Key, Path string
		Mode      *int32
	}
}

// A ResourceList has quantities by their names.
type ResourceList map[Policy]Quantity

// Resources is what a container may take.
type Resources struct {
	Limits   ResourceList `json:",omitempty"`
	Requests ResourceList `json:",omitempty"`
}

// A Quantity is a number, of any size.
type Quantity struct {
	i    int64
	d    *big.Int
	text string
}

// MarshalJSON returns the text.
func (q Quantity) MarshalJSON() ([]byte, error) {
	if q.d != nil {
		return json.Marshal(q.d.String())
	}
	return json.Marshal(q.text)
}

// A Toleration is of a taint.
type Toleration struct {
	Key, Value string
	Seconds    *int64
}

// Affinity says where to run.
type Affinity struct {
	Node *struct {
		Required  []NodeTerm
		Preferred []struct {
			Weight int32
			Term   NodeTerm
		}
	}
	Pod, Anti []*NodeTerm
}

// A NodeTerm selects nodes.
type NodeTerm struct {
	Match  []Requirement
	Labels map[string]string
}

// A Requirement is of a label.
type Requirement struct {
	Key, Op string
	Values  []string
}
