// Package admission holds the plugins that look at a write after it is decoded
// and before it is stored: some fill in what the cluster knows (a priority, a
// service account's token, a default class), some refuse.
//
// A plugin is a type with a name, in a file of its own, that has one or both of
//
//	Admit(ctx, *Attributes) error     // may change a.Object
//	Validate(ctx, *Attributes) error  // may not
//
// The Chain calls every Admit, then, once the object is defaulted and valid,
// every Validate, in Kubernetes' recommended order. The first error ends it, and
// it is the answer to the client.
//
// Plugins read the cluster through a Lister only, so a test needs a map and no
// server. They keep no state of their own: what they decide follows from the
// request and the objects that are there.
//
// Plugins that must write, as ResourceQuota does, need an Updater.
//
// What plugins change is noted, if somebody wants to know (Attributes.Explain):
// the request's span says which of them changed which field, from what to what.
// Values of Secrets are left out.
//
// Webhooks and policies that users configure are in package dynamic. Against
// Kubernetes some of the plugins that are off by default are missing.
package admission
