package subscribers_test

import (
	"testing"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
)

// comesLater is an event that no list knows yet.
type comesLater struct{}

// EventType is a name that is not in use.
func (comesLater) EventType() string { return "test.ComesLater.v1" }

// happened is an event of a history. Its correlation is a command's, as that of everything outside a batch.
func happened(e events.Event, by events.ActorKind) events.Envelope {
	return events.Envelope{Event: e, Meta: events.Metadata{
		Actor: events.Actor{Kind: by}, CorrelationID: id.New[id.Command]().String(),
	}}
}

// TestUntouched_ListsWhatMayHappenAfterAnImport: whatever else is there was done by a person, or is not known.
func TestUntouched_ListsWhatMayHappenAfterAnImport(t *testing.T) {
	t.Parallel()
	batch := id.New[id.Batch]()
	for _, c := range []struct {
		name string
		e    events.Event
		by   events.ActorKind
		want bool
	}{
		{"a period of a run that a person asked for", events.PeriodDue{}, events.ActorUser, true},
		{"a period that is paid", events.SubscriptionExtended{}, events.ActorProcess, true},
		{"the first period began", events.SubscriptionActivated{}, events.ActorProcess, true},
		{"cut off", events.BillingSuspended{}, events.ActorProcess, true},
		{"served again", events.BillingResumed{}, events.ActorProcess, true},
		{"the password was looked at", events.SubscriptionCredentialsShown{}, events.ActorUser, true},
		{"it expired", events.SubscriptionEnded{}, events.ActorProcess, true},
		{"its period was cancelled then", events.PeriodCancelled{}, events.ActorProcess, true},
		{"the undone run was asked for again", events.UndoneWaitEnded{}, events.ActorUser, true},
		{"its run was undone", events.PeriodCancelled{UndoneRun: id.New[id.BillingRun]()}, events.ActorUser, true},

		{"a second service", events.SubscriptionCreated{}, events.ActorUser, false},
		{"a charge, an add-on or a discount", events.ExtraAdded{}, events.ActorUser, false},
		{"none any more", events.ExtraRemoved{}, events.ActorUser, false},
		{"charges without a period", events.ChargesDue{}, events.ActorUser, false},
		{"another plan", events.SubscriptionPlanChanged{}, events.ActorUser, false},
		{"another plan, later", events.PlanChangePlanned{}, events.ActorUser, false},
		{"and later still", events.PlanChangeMoved{}, events.ActorProcess, false},
		{"the plan is kept", events.PlanChangeDropped{}, events.ActorAPIKey, false},
		{"a static address", events.SubscriptionAddressesAssigned{}, events.ActorUser, false},
		{"another login", events.SubscriptionCredentialsSet{}, events.ActorUser, false},
		{"a pause", events.SubscriptionPaused{}, events.ActorUser, false},
		{"a pause that is over", events.SubscriptionResumed{}, events.ActorUser, false},
		{"a compensation", events.SubscriptionCompensated{}, events.ActorUser, false},
		{"none any more", events.CompensationTakenBack{}, events.ActorUser, false},
		{"ended by hand", events.SubscriptionEnded{}, events.ActorUser, false},
		{"ended at the command line", events.SubscriptionEnded{}, events.ActorOperator, false},
		{"an invoice was voided by hand", events.PeriodCancelled{}, events.ActorUser, false},
		{"a corrected invoice", events.PeriodReissued{}, events.ActorUser, false},
		{"a payment was taken back", events.PeriodWithdrawn{}, events.ActorProcess, false},
		{"paid time of another import", events.PaidTimeCarriedOver{}, events.ActorUser, false},
		{"a stream of years", events.SubscriptionPeriodClosed{}, events.ActorProcess, false},
		{"an event that is new", comesLater{}, events.ActorProcess, false},
	} {
		made := happened(events.SubscriptionCreated{}, events.ActorUser)
		made.Meta.CorrelationID = batch.String()
		since := happened(c.e, c.by)
		if got := subscribers.Untouched([]events.Envelope{made, since}, batch); got != c.want {
			t.Errorf("%s, by %s: untouched = %v", c.name, c.by, got)
		}
		since.Meta.CorrelationID = batch.String() // the import has made it, or its undo
		if !subscribers.Untouched([]events.Envelope{made, since}, batch) {
			t.Errorf("%s, in the import: not untouched", c.name)
		}
	}
}
