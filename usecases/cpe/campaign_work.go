package cpecases

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CampaignWork advances campaigns: it tells the next CPEs, as many as may have the file on its way, and ends a
// campaign. One that is killed at any moment begins again with what the read model shows; the id of an operation
// follows from campaign, CPE and try, so that none is asked for twice. All fields are required. Safe for concurrent
// use.
type CampaignWork struct {
	Bus       *bus.Bus
	Views     *runner.Views
	CPEs      cpeviews.CPEsQuery
	Campaigns cpeviews.CampaignsQuery
	// Since lists the CPEs of an organization that have called at an instant or later.
	Since func(ctx context.Context, org id.Organization, at time.Time) ([]id.CPE, error)
	// Ready fails while the CPE server does not answer.
	Ready func() error
	Clock clock.Clock
}

// Times of a campaign. Source: docs/rules/cpe.md#campaigns.
const (
	calledWithin = 10 * time.Minute // a CPE that has called in it is online
	beginWithin  = 10 * time.Minute // in which the CPE server has to reach it
	againAfter   = 10 * time.Minute // when a CPE that was not reached is tried again
)

// The share of failures at which a campaign stops. Source: docs/rules/cpe.md#campaigns.
const (
	judgedFrom = 5  // so many CPEs have ended
	mostFailed = 20 // percent of them
)

// ErrCampaignBehind is the failure of Advance when the read models do not show the end of the log yet. Nothing was
// done.
var ErrCampaignBehind = errors.New("read models of campaigns are behind the log")

// Advance takes the next step of a campaign. meta makes the metadata of its commands from their names. Fails:
// ErrCampaignBehind, and as the log and the read models do; a repeat goes on.
func (w CampaignWork) Advance(
	ctx context.Context, job commands.AdvanceCpeCampaign, meta func(string) commands.Meta,
) error {
	for _, name := range []string{cpeviews.CampaignsName, cpeviews.CPEsName} {
		shown, err := w.Views.WaitWhole(ctx, name, func(context.Context) (bool, error) { return true, nil })
		if err != nil {
			return err
		}
		if !shown {
			return ErrCampaignBehind
		}
	}
	row, err := w.Campaigns.Get(ctx, job.OrgID, job.CampaignID)
	if err != nil || row == nil || row.EndedAt != nil {
		return err
	}
	now := w.Clock.Now()
	late := !now.Before(row.Terms.Deadline)
	if row.Sent == 0 && (row.Pending == 0 || late) {
		_, err := w.Bus.Execute(ctx, commands.FinishCpeCampaign{CampaignID: row.ID}, meta("finish"))
		return err
	}
	if late || row.State != cpeviews.CampaignRunning {
		return nil
	}
	succeeded, failed := row.Succeeded-row.SucceededBefore, row.Failed-row.FailedBefore
	if failing(succeeded, failed) {
		_, err := w.Bus.Execute(ctx, commands.StopCpeCampaign{
			CampaignID: row.ID, Succeeded: succeeded, Failed: failed,
		}, meta("stop"))
		return err
	}
	until, open := begins(row.Terms, now)
	if !open || row.Sent >= row.Terms.AtOnce || row.Pending == 0 || w.Ready() != nil {
		return nil
	}
	return w.tell(ctx, job.OrgID, *row, until, meta)
}

// failing reports whether so many CPEs have failed that a person has to look.
func failing(succeeded, failed int) bool {
	ended := succeeded + failed
	return ended >= judgedFrom && failed*100 > mostFailed*ended
}

// begins reports whether a campaign may begin on a CPE now, and until when that is so at most.
func begins(terms events.CpeCampaignTerms, now time.Time) (until time.Time, open bool) {
	until = now.Add(beginWithin)
	if terms.Hours != nil {
		from, to := terms.Hours.Window(now, calendar.ZoneOrUTC(terms.Timezone))
		if from.IsZero() || now.Before(from) {
			return time.Time{}, false
		}
		until = earlier(until, to)
	}
	return earlier(until, terms.Deadline), true
}

// earlier is the first of two instants.
func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// tell asks for the operations on the next CPEs.
func (w CampaignWork) tell(
	ctx context.Context, org id.Organization, row cpeviews.CampaignRow, until time.Time,
	meta func(string) commands.Meta,
) error {
	now := w.Clock.Now()
	online, err := w.Since(ctx, org, now.Add(-calledWithin))
	if err != nil {
		return err
	}
	next, err := w.Campaigns.Next(ctx, org, row.ID, online, now.Add(-againAfter), row.Terms.AtOnce-row.Sent)
	if err != nil || len(next) == 0 {
		return err
	}
	devices := make([]id.CPE, len(next))
	for i, one := range next {
		devices[i] = one.CpeID
	}
	has, err := w.CPEs.Some(ctx, devices)
	if err != nil {
		return err
	}
	whose := make(map[id.CPE]cpeviews.CPERow, len(has))
	for _, one := range has {
		whose[one.ID] = one
	}
	for _, one := range next {
		if whose[one.CpeID].OrgID != org { // it was released a moment ago, which the campaign will show
			continue
		}
		operation := commands.CpeCampaignOperation(row.ID, one.CpeID, one.Tries)
		_, err := w.Bus.Execute(ctx, commands.QueueCpeOperation{
			OperationID: operation, CpeID: one.CpeID, OrgID: org, SubscriberID: whose[one.CpeID].SubscriberID,
			Kind: events.CpeFirmware, CallNow: true,
			Deployed: &events.CpeDeployed{CampaignID: row.ID, FirmwareID: row.FirmwareID, BeginBy: until},
		}, meta("queue "+operation.String()))
		if err != nil {
			return fmt.Errorf("queue operation %s: %w", operation, err)
		}
	}
	return nil
}
