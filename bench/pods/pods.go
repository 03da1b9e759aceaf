// Package pods has objects like those of Kubernetes: what is listed often, and changed
// one at a time.
package pods

import "fmt"

//go:generate go tool cowview -type Pod -output pods_view.go

// A Pod is an object with some fifty pieces of memory.
type Pod struct {
	Meta   Meta
	Spec   Spec
	Status Status
}

// Meta is what all objects have.
type Meta struct {
	Name, Namespace, UID string
	Labels, Annotations  map[string]string
	Owners               []Owner
}

// An Owner is an object that another one belongs to.
type Owner struct {
	Kind, Name string
	Controller *bool
}

// Spec is what is wanted.
type Spec struct {
	Node       string
	Containers []Container
	Volumes    []Volume
}

// A Container is a program to run.
type Container struct {
	Name, Image string
	Args        []string
	Env         []Variable
	Limits      map[string]int64
	Mounts      []Mount
}

// A Variable is one of a Container's environment.
type Variable struct{ Name, Value string }

// A Mount is a Volume and where a Container sees it.
type Mount struct{ Volume, Path string }

// A Volume is a folder.
type Volume struct {
	Name  string
	Items map[string]string
}

// Status is what there is.
type Status struct {
	Phase      string
	Conditions []Condition
}

// A Condition is something that holds or does not.
type Condition struct{ Type, Status, Reason string }

// New returns pod i.
func New(i int) Pod {
	controller := true
	p := Pod{
		Meta: Meta{
			Name: fmt.Sprintf("web-%06d", i), Namespace: fmt.Sprintf("team-%d", i%50), UID: fmt.Sprintf("%032x", i),
			Labels:      map[string]string{"app": "web", "tier": "front", "release": fmt.Sprint(i % 7)},
			Annotations: map[string]string{"checksum": fmt.Sprintf("%064x", i), "owner": "ada"},
			Owners:      []Owner{{"ReplicaSet", fmt.Sprintf("web-%d", i/10), &controller}},
		},
		Spec: Spec{
			Node:    fmt.Sprintf("node-%d", i%200),
			Volumes: []Volume{{"config", map[string]string{"app.yaml": "app.yaml"}}, {Name: "token"}},
		},
		Status: Status{Phase: "Running", Conditions: []Condition{{"Ready", "True", ""}, {"Initialized", "True", ""}, {"PodScheduled", "True", ""}}},
	}
	for c := range 2 {
		p.Spec.Containers = append(p.Spec.Containers, Container{
			Name: fmt.Sprintf("c%d", c), Image: "registry.example/web:1.25", Args: []string{"--port", "8080", "--verbose"},
			Env:    []Variable{{"HOME", "/"}, {"MODE", "production"}, {"REGION", "eu"}, {"POD", p.Meta.Name}},
			Limits: map[string]int64{"cpu": 500, "memory": 1 << 28},
			Mounts: []Mount{{"config", "/etc/app"}, {"token", "/var/run/token"}},
		})
	}
	return p
}
