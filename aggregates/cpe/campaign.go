package cpe

import (
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// Campaigns defines the deployments of firmware: a stream for each, which has the lists of CPEs in parts, and then a
// few events. What becomes of each CPE is in the stream of the operation on it.
//
//	running ◄──► stopped, for a person to look
//	   └───────────┴──────► finished, halted
func Campaigns() aggregates.Definition[Campaign, commands.CpeCampaignCommand, events.CpeCampaignEvent] {
	return aggregates.Definition[Campaign, commands.CpeCampaignCommand, events.CpeCampaignEvent]{
		Category: commands.CpeCampaignCategory, Missing: commands.ErrNoCpeCampaign, Evolve: evolveCampaign,
		Decide: decideCampaign, Owner: func(s Campaign) id.Organization { return s.Org },
		First: commands.StartCpeCampaign{},
		Commands: []commands.CpeCampaignCommand{
			commands.StartCpeCampaign{}, commands.StopCpeCampaign{}, commands.ContinueCpeCampaign{},
			commands.HaltCpeCampaign{}, commands.FinishCpeCampaign{},
		},
	}
}

// CampaignState is how far a campaign has come.
type CampaignState string

// The states.
const (
	CampaignRunning  CampaignState = "running"
	CampaignStopped  CampaignState = "stopped"
	CampaignHalted   CampaignState = "halted"
	CampaignFinished CampaignState = "finished"
)

// Campaign is one deployment. The zero value does not exist.
type Campaign struct {
	ID    id.CPECampaign
	Org   id.Organization
	State CampaignState
}

// Over reports whether nothing of the campaign begins any more.
func (s Campaign) Over() bool { return s.State == CampaignHalted || s.State == CampaignFinished }

// evolveCampaign applies one recorded event.
func evolveCampaign(s Campaign, e events.CpeCampaignEvent) Campaign {
	switch e := e.(type) {
	case events.CpeCampaignStarted:
		return Campaign{ID: e.CampaignID, Org: e.OrgID, State: CampaignRunning}
	case events.CpeCampaignDevicesListed, events.CpeCampaignDevicesSkipped: // for the read model
	case events.CpeCampaignStopped:
		s.State = CampaignStopped
	case events.CpeCampaignContinued:
		s.State = CampaignRunning
	case events.CpeCampaignHalted:
		s.State = CampaignHalted
	case events.CpeCampaignFinished:
		s.State = CampaignFinished
	}
	return s
}

// decideCampaign lets a campaign end once. Of the end of people and that of the program the first one stands.
func decideCampaign(s Campaign, c commands.CpeCampaignCommand, now time.Time) ([]events.CpeCampaignEvent, error) {
	if start, first := c.(commands.StartCpeCampaign); first {
		if !s.ID.IsZero() {
			return nil, nil
		}
		return startCampaign(start, now), nil
	}
	if s.ID.IsZero() {
		return nil, commands.ErrNoCpeCampaign()
	}
	one := func(e events.CpeCampaignEvent) ([]events.CpeCampaignEvent, error) {
		return []events.CpeCampaignEvent{e}, nil
	}
	switch c := c.(type) {
	case commands.StartCpeCampaign: // above
	case commands.StopCpeCampaign:
		if s.State == CampaignRunning {
			return one(events.CpeCampaignStopped{
				CampaignID: s.ID, OrgID: s.Org, Succeeded: c.Succeeded, Failed: c.Failed, At: now,
			})
		}
	case commands.ContinueCpeCampaign:
		switch {
		case s.Over():
			return nil, commands.ErrCpeCampaignOver()
		case s.State == CampaignStopped:
			return one(events.CpeCampaignContinued{CampaignID: s.ID, OrgID: s.Org, At: now})
		}
	case commands.HaltCpeCampaign:
		switch {
		case s.State == CampaignFinished:
			return nil, commands.ErrCpeCampaignOver()
		case !s.Over():
			return one(events.CpeCampaignHalted{CampaignID: s.ID, OrgID: s.Org, At: now})
		}
	case commands.FinishCpeCampaign:
		if !s.Over() {
			return one(events.CpeCampaignFinished{CampaignID: s.ID, OrgID: s.Org, At: now})
		}
	}
	return nil, nil
}

// listedAtOnce bounds the CPEs of one event.
const listedAtOnce = 500

// startCampaign records a campaign with its lists. One without a CPE has finished.
func startCampaign(c commands.StartCpeCampaign, now time.Time) []events.CpeCampaignEvent {
	matched := len(c.CpeIDs)
	for reason, list := range c.Skipped {
		if reason != events.CpeOtherHardware {
			matched += len(list)
		}
	}
	out := []events.CpeCampaignEvent{events.CpeCampaignStarted{
		CampaignID: c.CampaignID, OrgID: c.OrgID, FirmwareID: c.FirmwareID, Filename: c.Filename, Version: c.Version,
		Model: c.Model, Matched: matched, Terms: c.Terms, At: now,
	}}
	for part := range slices.Chunk(c.CpeIDs, listedAtOnce) {
		out = append(out, events.CpeCampaignDevicesListed{
			CampaignID: c.CampaignID, OrgID: c.OrgID, CpeIDs: part, At: now,
		})
	}
	for _, reason := range events.CpeSkipReasons() {
		for part := range slices.Chunk(c.Skipped[reason], listedAtOnce) {
			out = append(out, events.CpeCampaignDevicesSkipped{
				CampaignID: c.CampaignID, OrgID: c.OrgID, Reason: reason, CpeIDs: part, At: now,
			})
		}
	}
	if len(c.CpeIDs) == 0 {
		out = append(out, events.CpeCampaignFinished{CampaignID: c.CampaignID, OrgID: c.OrgID, At: now})
	}
	return out
}
