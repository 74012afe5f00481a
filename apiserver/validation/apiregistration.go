package validation

import (
	"context"

	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kube-aggregator/pkg/apis/apiregistration"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	apiregistrationvalidation "k8s.io/kube-aggregator/pkg/apis/apiregistration/validation"
)

// APIService checks that name, group and version belong together, and priorities
// and certificates.
func APIService(service, old *apiregistrationv1.APIService) field.ErrorList {
	return onInternal(service, old, apiregistrationvalidation.ValidateAPIService, apiregistrationvalidation.ValidateAPIServiceUpdate)
}

// APIServiceStatus checks the conditions.
func APIServiceStatus(service, old *apiregistrationv1.APIService) field.ErrorList {
	return onInternal(service, old, nil, apiregistrationvalidation.ValidateAPIServiceStatusUpdate)
}

// onInternal calls the rules of the library, which work on the internal form.
func onInternal(
	service, old *apiregistrationv1.APIService,
	create func(context.Context, *apiregistration.APIService) field.ErrorList,
	update func(_ context.Context, service, old *apiregistration.APIService) field.ErrorList,
) field.ErrorList {
	ctx := context.Background()
	var now, before apiregistration.APIService
	if err := apiregistrationv1.Convert_v1_APIService_To_apiregistration_APIService(service, &now, nil); err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	if old == nil {
		return create(ctx, &now)
	}
	if err := apiregistrationv1.Convert_v1_APIService_To_apiregistration_APIService(old, &before, nil); err != nil {
		return field.ErrorList{field.InternalError(nil, err)}
	}
	return update(ctx, &now, &before)
}
