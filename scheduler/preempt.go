package scheduler

import (
	"github.com/kubesim/kubesim/scheduler/framework"
	"github.com/kubesim/kubesim/scheduler/profile"
)

func (s *scheduler) preempt(attempt *profile.Attempt, diagnosis *framework.Diagnosis) {
	diagnosis.PostFilter = ""
}
