// Package quota knows what objects use of a namespace's ResourceQuotas. The API
// server's admission charges it before an object is stored, and the controller
// counts it again; both must agree, so both ask here.
package quota
