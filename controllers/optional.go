package controllers

import (
	"slices"

	"github.com/kubesim/kubesim/controllers/provisioner"
	"github.com/kubesim/kubesim/controllers/servicelb"
)

// optional is the controllers that "*" does not stand for. They play what a
// real cluster has beside its controller manager.
func optional() []entry {
	return []entry{
		{"volume-provisioner", provisioner.New},
		{"volume-attacher", provisioner.NewAttacher},
		{"service-lb-controller", servicelb.New},
	}
}

// AddOns are the names that Config.Controllers has for all controllers and
// what a sandbox has beside them.
func AddOns() []string {
	names := []string{"*"}
	for _, e := range optional() {
		names = append(names, e.name)
	}
	return names
}

// IsAddOn tells whether a controller is one that Kubernetes has no role for.
func IsAddOn(name string) bool {
	return slices.ContainsFunc(optional(), func(e entry) bool { return e.name == name })
}
