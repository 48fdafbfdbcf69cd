package controller_test

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// conditionsOf writes conditions as type: status/reason.
func conditionsOf(conditions []metav1.Condition) map[string]string {
	out := map[string]string{}
	for _, c := range conditions {
		out[c.Type] = string(c.Status) + "/" + c.Reason
	}
	return out
}
