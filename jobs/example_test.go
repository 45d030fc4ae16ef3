package jobs_test

import (
	"encoding/json"
	"fmt"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/jobs"
)

// An outcome has the same command id in every attempt of its job: reported twice, it acts once. Two outcomes of one job
// differ by their names.
func ExampleCause_Meta() {
	cause := jobs.Cause{
		OrgID: id.New[id.Organization](), Actor: events.Actor{Kind: events.ActorUser, ID: "jane"},
		CorrelationID: "reboot", JobID: id.New[id.Any](), Attempt: 1,
	}
	first := cause.Meta("network.AcceptReboot")

	cause.Attempt = 2 // the program was killed before it could report
	second := cause.Meta("network.AcceptReboot")
	fmt.Println("same command:", first.CommandID == second.CommandID)
	fmt.Println("another outcome:", first.CommandID == cause.Meta("network.FailReboot").CommandID)
	fmt.Println("acting:", second.Actor.ID, "in", second.CorrelationID)

	// The row of a job stores who caused it. The queue adds the job's id and the number of the attempt.
	row, err := json.Marshal(jobs.Cause{Actor: cause.Actor, CorrelationID: "reboot", JobID: cause.JobID, Attempt: 2})
	fmt.Println(string(row), err)
	// Output:
	// same command: true
	// another outcome: false
	// acting: jane in reboot
	// {"orgId":null,"actor":{"kind":"user","id":"jane"},"correlationId":"reboot"} <nil>
}
