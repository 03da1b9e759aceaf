// Package pod has types like those of an orchestrator of containers.
package pod

import "time"

//go:generate go run github.com/cowstore/cowstore/cow/cowview -type Pod,Meta,Owner,Managed,Spec,Container,EnvVar,EnvSource,Volume,Source,Resources,Quantity,Toleration,Affinity,NodeTerm,Requirement,Status,Condition,ContainerStatus,State,PodList

// A UID tells objects apart.
type UID string

// A Time can be left out.
type Time struct{ time.Time }

// Meta is what all objects have.
type Meta struct {
	Name        string            `json:"name,omitempty"`
	Namespace   string            `json:"namespace,omitempty"`
	UID         UID               `json:"uid,omitempty"`
	Version     string            `json:"version,omitempty"`
	Generation  int64             `json:"generation,omitempty"`
	Created     Time              `json:"created,omitzero"`
	Deleted     *Time             `json:"deleted,omitempty"`
	Grace       *int64            `json:"grace,omitempty"`
	Labels      map[string]string `json:"labels,omitempty"`
	Annotations map[string]string `json:"annotations,omitempty"`
	Owners      []Owner           `json:"owners,omitempty"`
	Finalizers  []string          `json:"finalizers,omitempty"`
	Managed     []Managed         `json:"managed,omitempty"`
}

// An Owner is who an object belongs to.
type Owner struct {
	Kind, Name string
	UID        UID
	Controller *bool `json:",omitempty"`
}

// Managed says who wrote which fields.
type Managed struct {
	Manager string
	At      *Time
	Fields  *Fields
}

// Fields is a set of fields, encoded.
type Fields struct{ Raw []byte }

// TypeMeta is the kind of an object.
type TypeMeta struct {
	Kind       string `json:"kind,omitempty"`
	APIVersion string `json:"apiVersion,omitempty"`
}

// A Pod is containers that run together.
type Pod struct {
	TypeMeta `json:",inline"`
	Meta     `json:"metadata"`
	Spec     Spec   `json:"spec"`
	Status   Status `json:"status"`
}

// A PodList is pods.
type PodList struct {
	TypeMeta
	Items []Pod
}
