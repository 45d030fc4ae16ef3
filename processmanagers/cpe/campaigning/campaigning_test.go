package campaigning_test

import (
	"testing"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/processtest"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/cpe/campaigning"
)

// One campaign of these tests, from 02:00 to 04:00 in Nairobi.
var (
	now      = time.Date(2026, 3, 1, 23, 30, 0, 0, time.UTC)
	campaign = id.Derive[id.CPECampaign]("test", "campaign")
	acme     = id.Derive[id.Organization]("test", "acme")
	started  = events.CpeCampaignStarted{CampaignID: campaign, OrgID: acme, At: now, Terms: events.CpeCampaignTerms{
		Timezone: "Africa/Nairobi", Hours: &calendar.Hours{From: 2 * 60, To: 4 * 60},
	}}
	stopped   = events.CpeCampaignStopped{CampaignID: campaign, OrgID: acme, At: now}
	continued = events.CpeCampaignContinued{CampaignID: campaign, OrgID: acme, At: now}
)

// looks asks for the job, and for the next one after a pause.
func looks(at time.Time, pause time.Duration) processmanagers.Output {
	return processmanagers.Output{
		Jobs:   []commands.Job{commands.AdvanceCpeCampaign{CampaignID: campaign, OrgID: acme}},
		Timers: []processmanagers.Timer{{Name: "look", At: at.Add(pause)}},
	}
}

func TestCampaigning_LooksOftenWithinTheHoursAndSeldomElse(t *testing.T) {
	t.Parallel()
	after := func(list ...events.Event) processtest.Scenario[campaigning.State] {
		return processtest.For(t, campaigning.Process(), now).Given(list...)
	}
	always := started
	always.Terms.Hours = nil
	after().When(started).Then(looks(now, 30*time.Second))
	after().When(always).Then(looks(now, 30*time.Second))
	for passed, pause := range map[time.Duration]time.Duration{
		time.Hour: 30 * time.Second, 90 * time.Minute: 10 * time.Minute, // 04:00 is over
		24*time.Hour - 33*time.Minute: 3 * time.Minute, // before 02:00
	} {
		at := now.Add(passed)
		after(started).At(at).WhenDue("look", at).Then(looks(at, pause))
	}
	after(started).When(stopped).Then(looks(now, 10*time.Minute))
	after(started, stopped).When(continued).Then(looks(now, 30*time.Second))
	for _, end := range []events.Event{
		events.CpeCampaignHalted{CampaignID: campaign, OrgID: acme, At: now},
		events.CpeCampaignFinished{CampaignID: campaign, OrgID: acme, At: now},
	} {
		after(started).When(end).Then(processmanagers.Output{Timers: []processmanagers.Timer{{Name: "look"}}})
	}
}
