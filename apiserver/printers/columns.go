package printers

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// name is the column that nearly every table begins with.
func name() metav1.TableColumnDefinition {
	return metav1.TableColumnDefinition{
		Name: "Name", Type: "string", Format: "name", Description: metav1.ObjectMeta{}.SwaggerDoc()["name"],
	}
}
