package main

import (
	"context"
	"slices"
	"sync"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/gateways/breaker"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/telemetry"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/changes"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/messaging"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/projections/outages"
	"github.com/lastmile-isp/lastmile/projections/payments"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/projections/webhooks"
)

// changesByEvents says which events change what is read under each topic: those that the read models of its endpoints
// handle.
var changesByEvents = sync.OnceValue(func() changesviews.Translator {
	shownBy := map[changesviews.Topic][]runner.Projection{
		changesviews.AccessDifferences: {accessviews.Differences{}},
		changesviews.APIKeys:           {identityviews.APIKeys{}},
		changesviews.Approvals:         {billingviews.Approvals{}},
		changesviews.BillingRuns:       {billingviews.Runs{}},
		changesviews.Bills:             {paymentsviews.Bills{}},
		changesviews.Compensations:     {outagesviews.Compensations{}},
		changesviews.Devices:           {networkviews.Devices{}},
		changesviews.Dunning:           {accessviews.Dunning{}},
		changesviews.Invoices:          {billingviews.Invoices{}, billingviews.Signatures{}},
		changesviews.Messages:          {messagingviews.Messages{}},
		changesviews.Orgs:              {identityviews.Organizations{}},
		changesviews.Outages:           {outagesviews.Outages{}},
		changesviews.PaymentGateway:    {paymentsviews.Gateways{}},
		changesviews.Payments:          {paymentsviews.Payments{}},
		changesviews.Plans:             {subscribersviews.Plans{}},
		changesviews.Receipts:          {paymentsviews.Receipts{}},
		changesviews.Reconciliations:   {paymentsviews.Reconciliations{}},
		changesviews.Refunds:           {paymentsviews.Refunds{}},
		changesviews.Services:          {networkviews.Services{}, networkviews.History{}},
		changesviews.Settings:          {identityviews.Organizations{}},
		changesviews.Subscribers:       {subscribersviews.Subscribers{}},
		changesviews.Subscriptions: {
			subscribersviews.Subscriptions{}, accessviews.Usage{}, accessviews.Dunning{},
		},
		changesviews.SupportRequests: {messagingviews.Support{}},
		changesviews.TaxDocuments:    {billingviews.Signatures{}},
		changesviews.Timeline:        {subscribersviews.Timeline{}},
		changesviews.Users:           {identityviews.Users{}},
		changesviews.Vouchers:        {accessviews.Vouchers{}},
		changesviews.Webhooks:        {webhooksviews.Endpoints{}},
	}
	handled := map[changesviews.Topic][]string{
		changesviews.Settings: { // GET /settings/dunning, /settings/messages and /settings/approvals ask the log
			events.ApprovalLimitSet{}.EventType(), events.ApprovalLimitRemoved{}.EventType(),
			events.DunningPoliciesSet{}.EventType(), events.MessageSettingsSet{}.EventType(),
		},
		changesviews.CPEs: ofCPEs(),
		changesviews.Batches: { // not each item of one
			events.BillingRunRequested{}.EventType(), events.BillingRunFinished{}.EventType(),
			events.ImportAsked{}.EventType(), events.ImportFinished{}.EventType(),
			events.ImportBegunAgain{}.EventType(),
			events.PlanMoveAsked{}.EventType(), events.PlanMoveFinished{}.EventType(),
			events.CompensationApplied{}.EventType(), events.CompensationFinished{}.EventType(),
			events.BatchUndoAsked{}.EventType(), events.BatchUndoPartDone{}.EventType(),
			events.BatchUndoFinished{}.EventType(), events.FuseHeld{}.EventType(), events.FuseReleased{}.EventType(),
		},
	}
	for topic, models := range shownBy {
		for _, model := range models {
			handled[topic] = slices.Concat(handled[topic], model.Handles())
		}
	}
	return changesviews.New(handled, catalog.Events())
})

// ofCPEs lists what changes a CPE, a write to it, or firmware; the logins that CPEs are told have topics of their own.
func ofCPEs() []string {
	return []string{
		events.CpeDetailsLearned{}.EventType(), events.CpeClaimed{}.EventType(), events.CpeAssigned{}.EventType(),
		events.CpeDescribed{}.EventType(), events.CpeSubscriberAssigned{}.EventType(),
		events.CpeSubscriberRemoved{}.EventType(), events.CpeReleased{}.EventType(),
		events.CpeOperationQueued{}.EventType(), events.CpeOperationSent{}.EventType(),
		events.CpeFaultClearAsked{}.EventType(), events.CpeSignInProven{}.EventType(),
		events.CpeSignInEnded{}.EventType(), events.CpeOperationConfirmed{}.EventType(),
		events.CpeOperationFailed{}.EventType(),
		events.CpeOperationExpired{}.EventType(),
		events.CpeFirmwareBegun{}.EventType(), events.CpeFirmwareStored{}.EventType(),
		events.CpeFirmwareRemoved{}.EventType(), events.CpeFirmwareDeleted{}.EventType(),
		events.CpeCampaignStarted{}.EventType(),
		events.CpeCampaignStopped{}.EventType(), events.CpeCampaignContinued{}.EventType(),
		events.CpeCampaignHalted{}.EventType(), events.CpeCampaignFinished{}.EventType(),
		events.CpeOnuAsked{}.EventType(), events.CpeOnuStepDone{}.EventType(), events.CpeOnuReady{}.EventType(),
		events.CpeOnuFailed{}.EventType(), events.CpeOnuExpired{}.EventType(),
	}
}

// startChanges begins to tell open pages what changes, once they can read it.
func (a *App) startChanges(ctx context.Context) error {
	tail := a.changes.Follow(a.engines.projections, changesByEvents(), a.engines.shows)
	if err := a.life.start(ctx, "tail of the log", stopEngines, tail); err != nil {
		return err
	}
	return a.life.start(ctx, "stream of changes", stopEngines, a.changes)
}

// tellBreaker tells open pages that an outside system changed condition: those of the organization whose device it is,
// and those of the platform.
func (a *App) tellBreaker(s breaker.State) {
	change := changesviews.Change{Topic: changesviews.Breakers, At: a.clock.Now()}
	a.changes.Tell(change)
	if owner, err := id.Parse[id.Organization](a.breakerOwner(s)); err == nil {
		change.OrgID = owner
		a.changes.Tell(change)
	}
}

// tellSessions tells open pages which sessions began or ended.
func (a *App) tellSessions(turns []telemetry.Turn) {
	list := make([]changesviews.Change, len(turns))
	for i, t := range turns {
		list[i] = changesviews.Change{
			OrgID: t.OrgID, Topic: changesviews.Sessions, ID: id.Any(t.SessionID), SubscriberID: t.SubscriberID,
			At: t.At,
		}
		if t.At.IsZero() {
			list[i].At = a.clock.Now()
		}
		switch {
		case t.SessionID.IsZero():
		case t.Ended:
			list[i].Type = "access.SessionEnded"
		default:
			list[i].Type = "access.SessionBegan"
		}
	}
	a.changes.Tell(list...)
}
