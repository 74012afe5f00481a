package strategy

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration/v1/helper"
)

// APIService marks a group version that is served here as available from the start.
func APIService(service, old *apiregistrationv1.APIService, now metav1.Time) {
	if old == nil && service.Spec.Service == nil {
		c := helper.NewLocalAvailableAPIServiceCondition()
		c.LastTransitionTime = now
		helper.SetAPIServiceCondition(service, c)
	}
}
