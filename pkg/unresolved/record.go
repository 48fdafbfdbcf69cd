package unresolved

import "github.com/ptah-run/ptah/pkg/api/v1alpha1"

// CannotSay lists what a record leaves open, for whoever goes to look.
func CannotSay(run *v1alpha1.UnresolvedRun) []string {
	var list []string
	if Adopted(run) {
		list = append(list, "which attempt and which plan: an older manager did not keep them. Search for the Job and the database instead.")
	}
	if run.JobName == "" {
		list = append(list, "whether a Job ever existed: its create was never confirmed.")
	}
	switch {
	case run.TargetIdentityDigest == "":
		list = append(list, "which database.")
	case Adopted(run):
		list = append(list, "whether the run reached this database: it is the one that the last reading named. Start there, do not stop there.")
	default:
		list = append(list, "whether the run or the plan named this database. Start there, do not stop there.")
	}
	return list
}
