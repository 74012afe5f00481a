package printers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// The columns that the validating and the mutating kinds share.

func webhooks() metav1.TableColumnDefinition {
	return number("Webhooks", "Webhooks indicates the number of webhooks registered in this configuration")
}

func paramKind() metav1.TableColumnDefinition {
	return text("ParamKind", "ParamKind specifies the kind of resources used to parameterize this policy")
}

func policyName() metav1.TableColumnDefinition {
	return text("PolicyName", "PolicyName indicates the policy definition which the policy binding binded to")
}

func paramRef() metav1.TableColumnDefinition {
	return text("ParamRef", "ParamRef indicates the param resource which sets the configuration param")
}
