package admission

import (
	"context"
	"errors"
)

// AlwaysAdmit lets everything pass, as no plugin at all does.
type AlwaysAdmit struct{}

// Name of the plugin.
func (*AlwaysAdmit) Name() string { return "AlwaysAdmit" }

// Validate refuses nothing.
func (*AlwaysAdmit) Validate(context.Context, *Attributes) error { return nil }

// AlwaysDeny refuses every write, to see what clients make of it.
type AlwaysDeny struct{}

// Name of the plugin.
func (*AlwaysDeny) Name() string { return "AlwaysDeny" }

// Admit refuses.
func (*AlwaysDeny) Admit(_ context.Context, a *Attributes) error { return denyAll(a) }

// Validate refuses what has no mutating admission, such as a deletion.
func (*AlwaysDeny) Validate(_ context.Context, a *Attributes) error { return denyAll(a) }

// denyAll lets the server itself pass, which has no user, since it makes the first
// objects at its start.
func denyAll(a *Attributes) error {
	if a.User.Username == "" {
		return nil
	}
	return forbidden(a, errors.New("admission control is denying all modifications"))
}
