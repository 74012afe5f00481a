package kinds

func networking() []Kind {
	return in("networking.k8s.io", "v1",
		Kind{Kind: "IngressClass", Resource: "ingressclasses", Generation: true},
		Kind{
			Kind: "Ingress", Resource: "ingresses", Namespaced: true, ShortNames: []string{"ing"},
			Subresources: []Subresource{status()}, Generation: true,
		},
		Kind{Kind: "IPAddress", Resource: "ipaddresses", ShortNames: []string{"ip"}},
		Kind{Kind: "NetworkPolicy", Resource: "networkpolicies", Namespaced: true, ShortNames: []string{"netpol"}, Generation: true},
		Kind{Kind: "ServiceCIDR", Resource: "servicecidrs", Subresources: []Subresource{status()}},
	)
}

func discovery() []Kind {
	return in("discovery.k8s.io", "v1",
		Kind{Kind: "EndpointSlice", Resource: "endpointslices", Namespaced: true, Generation: true})
}

// flowcontrol says who has to wait for whom, see package fairness.
func flowcontrol() []Kind {
	return in("flowcontrol.apiserver.k8s.io", "v1",
		Kind{Kind: "FlowSchema", Resource: "flowschemas", Subresources: []Subresource{status()}, Generation: true},
		Kind{
			Kind: "PriorityLevelConfiguration", Resource: "prioritylevelconfigurations",
			Subresources: []Subresource{status()}, Generation: true,
		},
	)
}
