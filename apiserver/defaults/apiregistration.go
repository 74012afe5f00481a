package defaults

import (
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
)

// APIService fills the port of the service behind it.
func APIService(service *apiregistrationv1.APIService) {
	if service.Spec.Service != nil {
		setNil(&service.Spec.Service.Port, 443)
	}
}
