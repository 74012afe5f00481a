// Package certificates approves kubelets' CertificateSigningRequests, signs what
// was approved, and deletes requests that are over.
//
//	watches     CertificateSigningRequests
//	owns        nothing
//	writes      CertificateSigningRequests: conditions Approved and Failed,
//	            status.certificate; deletion
//	invariants  nothing is signed that was not approved, or does not keep the rules
//	            of its signer; no certificate outlives its authority
//
// These are three controllers, each in a file of its own. Requests for signers
// other than Kubernetes' four are left to others.
package certificates
