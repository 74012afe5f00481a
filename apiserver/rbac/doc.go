// Package rbac decides by roles who may do what.
//
//	authorizer.go  which role, bound by which binding, allows a request; all rules of a user
//	escalation.go  nobody gives away more than he has
//	bootstrap.go   the roles and bindings that every cluster has, as objects
//	policy.go      what these roles allow, as tables
//	policy_controllers.go  the same for each controller
package rbac
