package main

import (
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/processtest"
)

// lookFields are the fields of states and jobs, by process, in which the number of looks or the name of one stands: one
// late look is one look.
var lookFields = map[string][]string{
	"no_fault": {"rounds", "round"}, "provisioning": {"runId"},
}

// byTries are the processes that end after a number of tries, with what they count: an outage, during which nobody
// tries, uses up none.
var byTries = map[string]string{"reconciling": "three tries of the job of a run"}

// TestProcesses_ALateLookDecidesAsTheLastOfThemWould: after an outage, or when a clock was moved, one look stands for
// all that were due meanwhile.
func TestProcesses_ALateLookDecidesAsTheLastOfThemWould(t *testing.T) {
	t.Parallel()
	for _, p := range processes() {
		def := p.Erase()
		if byTries[def.Name] != "" {
			continue
		}
		t.Run(def.Name, func(t *testing.T) {
			t.Parallel()
			list := make([]events.Envelope, len(def.Types))
			for i, eventType := range def.Types {
				list[i] = recordedExample(t, eventType)
			}
			processtest.CheckLate(t, def, list, lookFields[def.Name]...)
		})
	}
}
