package main

import (
	"slices"
	"testing"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/events/catalog"
	"github.com/lastmile-isp/lastmile/processmanagers/access/dunning"
	"github.com/lastmile-isp/lastmile/processmanagers/access/enforcement"
	"github.com/lastmile-isp/lastmile/processmanagers/subscribers/renewal"
	"github.com/lastmile-isp/lastmile/projections/audit"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/outbox"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases/books"
)

// consumer is a part of the program that has to handle every event with some effects.
type consumer struct {
	needs   catalog.Effect
	handles []string // nil = every type
	// not has the types with these effects that the consumer does not handle, and why.
	not map[string]string
	// only is set where no other event may change what the consumer has: what it handles beside has these effects too.
	only catalog.Effect
}

// typeOf is the name of a type of event.
func typeOf[E events.Event]() string {
	var none E
	return none.EventType()
}

// consumers lists the parts whose lists of events must be complete.
func consumers() map[string]consumer {
	return map[string]consumer{
		"directory": {
			needs: catalog.Access | catalog.Routers, only: catalog.Access | catalog.Routers,
			handles: directory.New(directory.Config{}).Handles(),
		},
		"enforcement": {needs: catalog.Access, handles: enforcement.Process().Erase().Types, not: notEnforced()},
		"dunning": {
			needs: catalog.PaidTime | catalog.Debt, handles: dunning.Process().Erase().Types, not: map[string]string{
				typeOf[events.SubscriptionActivated](): "dunning follows what is due, from the creation on",
			},
		},
		"renewal": {
			needs: catalog.PaidTime | catalog.Billing, handles: renewal.Process().Erase().Types, not: map[string]string{
				typeOf[events.SubscriptionActivated](): "its paid time comes as SubscriptionExtended",
				typeOf[events.PlanChangeMoved]():       "the change of the plan itself says when it is made",
				typeOf[events.ChargesDue]():            "process invoicing makes the invoice of charges",
			},
		},
		"due": {
			needs: catalog.PaidTime | catalog.Billing, handles: billingviews.Due{}.Handles(), not: map[string]string{
				typeOf[events.SubscriptionActivated](): "its paid time comes as SubscriptionExtended",
				typeOf[events.PlanChangeMoved]():       "the change of the plan itself says when it is made",
				typeOf[events.ChargesDue]():            "charges that no period has are invoiced at once",
				typeOf[events.ExtraAdded]():            "an extra is billed with a period, which is due as without it",
				typeOf[events.ExtraRemoved]():          "an extra is billed with a period, which is due as without it",
			},
		},
		"statement": {needs: catalog.Money, handles: billingviews.Statement{}.Handles(), not: map[string]string{
			typeOf[events.SetAsidePaidOut](): "the balance went down when it was set aside",
			typeOf[events.RecoveryWaived]():  "nothing is owed and nothing was paid: the balance stays",
		}},
		"timeline": {
			needs:   catalog.Access | catalog.PaidTime | catalog.Billing | catalog.Debt | catalog.Money,
			handles: subscribersviews.Timeline{}.Handles(), not: notInTimeline(),
		},
		"outbox": {
			needs: catalog.PaidTime, handles: outbox.Outbox{}.Handles(),
		},
		"books": {
			needs:   catalog.PaidTime | catalog.Billing | catalog.Debt | catalog.Money,
			handles: booksEvents(), not: map[string]string{
				typeOf[events.RefundCompleted](): "the account says what was set aside and paid out",
			},
		},
		"audit": {needs: ^catalog.Nothing, handles: auditviews.Log{}.Handles()},
	}
}

// notEnforced has what changes access and is no reason to look at one customer's sessions.
func notEnforced() map[string]string {
	return map[string]string{
		typeOf[events.OrganizationCreated]():    "nobody has a session yet",
		typeOf[events.BillingSettingsAdopted](): "the hours of everybody: all sessions are compared every 15 seconds",
		typeOf[events.SubscriptionCreated]():    "it has no session yet",
		typeOf[events.PaidTimeCarriedOver]():    "it comes with the creation, before any session",
		typeOf[events.DunningReviewed]():        "a review that changes access is recorded as the step that it takes",
		typeOf[events.VoucherBatchMade]():       "vouchers have no session yet",
		typeOf[events.VouchersAdded]():          "vouchers have no session yet",
		typeOf[events.VoucherRedeemed]():        "the session of the first sign-in has what the voucher gives",
	}
}

// notInTimeline has what the timeline of a customer does not show.
func notInTimeline() map[string]string {
	voucher, settings := "vouchers have no timeline", "of the organization, not of a customer"
	return map[string]string{
		typeOf[events.VoucherBatchMade]():       voucher,
		typeOf[events.VouchersAdded]():          voucher,
		typeOf[events.VoucherRedeemed]():        voucher,
		typeOf[events.VoucherBeganEarlier]():    voucher,
		typeOf[events.VoucherMoved]():           voucher,
		typeOf[events.VoucherVoided]():          voucher,
		typeOf[events.OrganizationCreated]():    settings,
		typeOf[events.BillingSettingsAdopted](): settings,
		typeOf[events.DunningReviewed]():        "a review without a step changes nothing that a customer sees",
		typeOf[events.CapPeriodMoved]():         "the traffic of the period is shown as CapReset when it begins again",
		typeOf[events.PlanChangeMoved]():        "the planned change is shown with its instant",
		typeOf[events.UndoneWaitEnded]():        "the period that becomes due is shown",
	}
}

// booksEvents lists the types that the check of the books reads.
func booksEvents() (types []string) {
	for _, e := range catalog.Events() {
		if bookscases.Wants(e) {
			types = append(types, e.EventType())
		}
	}
	return types
}

// TestEffects_EveryConsumerHandlesWhatItMust: a list of events that must be complete is held against what each event
// says that it can change. What a consumer does not handle has its reason here.
func TestEffects_EveryConsumerHandlesWhatItMust(t *testing.T) {
	t.Parallel()
	for name, c := range consumers() {
		needs := catalog.With(c.needs)
		for _, eventType := range needs {
			handled := c.handles == nil || slices.Contains(c.handles, eventType)
			switch reason := c.not[eventType]; {
			case !handled && reason == "":
				t.Errorf("%s does not handle %s, and no reason is given", name, eventType)
			case handled && reason != "":
				t.Errorf("%s handles %s, though a reason says why not", name, eventType)
			}
		}
		for eventType := range c.not {
			if !slices.Contains(needs, eventType) {
				t.Errorf("%s need not handle %s, so no reason is needed", name, eventType)
			}
		}
		if c.only == catalog.Nothing {
			continue
		}
		allowed := catalog.With(c.only)
		for _, eventType := range c.handles {
			if !slices.Contains(allowed, eventType) {
				t.Errorf("%s handles %s, which does not say that it can change what %s has", name, eventType, name)
			}
		}
	}
}
