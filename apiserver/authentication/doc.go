// Package authentication tells who sends a request.
//
// Each way to prove it is a file of its own:
//
//	certificate.go   X.509 client certificates: CN is the user, O are the groups
//	serviceaccount.go  the JWTs of ServiceAccounts, bound to objects or legacy
//	bootstrap.go     the tokens of Secrets in kube-system with which nodes join
//	oidc.go          the ID tokens of an OpenID Connect issuer
//	file.go          static bearer tokens and passwords from CSV files
//
// authentication.go tries them in Kubernetes' order. A credential that is wrong
// is refused, never ignored; a request without any is anonymous or, on a listener
// that asks nobody, the local user.
package authentication
