package stage

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

const (
	apiVersion = "kwok.x-k8s.io/v1alpha1"
	kind       = "Stage"
)

// manifest is a Stage as it is written.
type manifest struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`
	Spec              spec `json:"spec"`
}

type spec struct {
	ResourceRef struct {
		APIGroup string `json:"apiGroup"`
		Kind     string `json:"kind"`
	} `json:"resourceRef"`
	Selector   *selector   `json:"selector"`
	Weight     int64       `json:"weight"`
	WeightFrom *expression `json:"weightFrom"`
	Delay      *delay      `json:"delay"`
	Next       Next        `json:"next"`
	// ImmediateNextStage has the next Stage look at what this one wrote at once.
	ImmediateNextStage bool `json:"immediateNextStage"`
}

type selector struct {
	MatchLabels      map[string]string `json:"matchLabels"`
	MatchAnnotations map[string]string `json:"matchAnnotations"`
	MatchExpressions []requirement     `json:"matchExpressions"`
}

type requirement struct {
	Key      string   `json:"key"`
	Operator string   `json:"operator"`
	Values   []string `json:"values"`
}

type delay struct {
	DurationMilliseconds       int64       `json:"durationMilliseconds"`
	DurationFrom               *expression `json:"durationFrom"`
	JitterDurationMilliseconds *int64      `json:"jitterDurationMilliseconds"`
	JitterDurationFrom         *expression `json:"jitterDurationFrom"`
}

type expression struct {
	ExpressionFrom string `json:"expressionFrom"`
}

// Next is what a Stage changes.
type Next struct {
	Event          *Event      `json:"event"`
	Finalizers     *Finalizers `json:"finalizers"`
	Delete         bool        `json:"delete"`
	StatusTemplate string      `json:"statusTemplate"`
}

// Event is told of the object.
type Event struct {
	Type    string `json:"type"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// Finalizers are those to add and to remove; Empty removes all before.
type Finalizers struct {
	Add    []Finalizer `json:"add"`
	Remove []Finalizer `json:"remove"`
	Empty  bool        `json:"empty"`
}

// Finalizer is one of an object's.
type Finalizer struct {
	Value string `json:"value"`
}
