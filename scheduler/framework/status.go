package framework

import "strings"

// Code classifies a Status, as in kube-scheduler.
type Code int

const (
	// Success: the pod may run there.
	Success Code = iota
	// Unschedulable: not now, but it would help to take pods off the node.
	Unschedulable
	// UnschedulableAndUnresolvable: no preemption would help.
	UnschedulableAndUnresolvable
	// Error: the plugin could not tell.
	Error
)

// Status is a plugin's verdict. A nil Status means Success. Statuses are
// shared between nodes and cycles and must not be changed.
type Status struct {
	Code    Code
	Plugin  string
	Reasons []string
	Err     error
}

// Reject returns an Unschedulable status.
func Reject(plugin string, reasons ...string) *Status {
	return &Status{Code: Unschedulable, Plugin: plugin, Reasons: reasons}
}

// RejectForGood returns a status that preemption cannot change.
func RejectForGood(plugin string, reasons ...string) *Status {
	return &Status{Code: UnschedulableAndUnresolvable, Plugin: plugin, Reasons: reasons}
}

// Failed returns the status of a plugin that could not tell because of err.
func Failed(plugin string, err error) *Status {
	return &Status{Code: Error, Plugin: plugin, Reasons: []string{err.Error()}, Err: err}
}

// OK reports whether s lets the pod pass.
func (s *Status) OK() bool { return s == nil || s.Code == Success }

// Rejected reports whether the pod does not fit, as opposed to an error.
func (s *Status) Rejected() bool {
	return s != nil && (s.Code == Unschedulable || s.Code == UnschedulableAndUnresolvable)
}

// Message joins the reasons.
func (s *Status) Message() string {
	if s == nil {
		return ""
	}
	return strings.Join(s.Reasons, ", ")
}
