package subscribersviews

import (
	_ "embed"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// TimelineName keys the projection's checkpoint and schemas, so it never changes.
const TimelineName = "subscribers_timeline"

// Timeline has one row for each event that carries the subscriber's id, and two when money moves between subscribers. A
// contradiction about money has a row for the subscriber whose account has the money.
// Ends of stream periods are bookkeeping and have no row; a granted number has none either, because the document that
// gets it has one.
type Timeline struct{}

// timelineDDL is compiled in from timeline.sql.
//
//go:embed timeline.sql
var timelineDDL string

// Name keys checkpoint and schemas.
func (Timeline) Name() string { return TimelineName }

// Version must grow with every change to the tables or to Apply.
func (Timeline) Version() int { return 29 }

// DDL creates the tables of timeline.sql.
func (Timeline) DDL() string { return timelineDDL }

// TenantTables are under row-level security.
func (Timeline) TenantTables() []string { return []string{"timeline", "numbers"} }

// timelineEvents have a row in the timeline; other events of the same streams have none.
var timelineEvents = []events.Event{
	events.SubscriberRegistered{}, events.SubscriberDetailsCorrected{}, events.SubscriberBlocked{},
	events.SubscriberUnblocked{}, events.SubscriberForgotten{}, events.PortalAccessGiven{},
	events.PortalAccessEnded{}, events.SubscriptionCreated{}, events.PeriodDue{},
	events.SubscriptionActivated{}, events.SubscriptionExtended{}, events.PeriodWithdrawn{}, events.PeriodCancelled{},
	events.SubscriptionPaused{}, events.SubscriptionResumed{}, events.SubscriptionEnded{},
	events.BillingSuspended{}, events.BillingResumed{},
	events.SubscriptionCompensated{}, events.SubscriptionPlanChanged{}, events.PlanChangePlanned{},
	events.PlanChangeDropped{}, events.CompensationTakenBack{}, events.ExtraAdded{}, events.ExtraRemoved{},
	events.ChargesDue{}, events.PeriodReissued{},
	events.SubscriptionAddressesAssigned{}, events.SubscriptionCredentialsSet{},
	events.SubscriptionCredentialsShown{}, events.AccountOpened{},
	events.InvoiceDrafted{}, events.InvoiceIssued{}, events.InvoiceVoided{}, events.ReceiptCredited{},
	events.InvoiceAllocated{}, events.InvoicePaid{}, events.InvoiceCancelled{}, events.CreditLeft{},
	events.CreditNoteDrafted{}, events.CreditNoteIssued{}, events.ReceiptWithdrawn{}, events.AllocationWithdrawn{},
	events.InvoiceReopened{}, events.CreditSetAside{}, events.SetAsideReturned{}, events.SetAsidePaidOut{},
	events.DebtWrittenOff{}, events.InvoiceWrittenOff{}, events.WriteOffRecovered{}, events.RecoveryWithdrawn{},
	events.RecoveryWaived{},
	events.CreditNoteVoided{}, events.PromptReserved{}, events.PromptReleased{}, events.PaymentInitiated{},
	events.PaymentSucceeded{}, events.ProvisionalClaimed{}, events.ProvisionalSuperseded{},
	events.PaymentPaidElsewhere{}, events.PaymentCancelled{},
	events.PaymentFailed{}, events.PaymentExpired{}, events.ReceiptMatched{}, events.ReceiptClaimed{},
	events.ReceiptAbsorbed{}, events.ReceiptReversed{}, events.ReceiptReattributed{},
	events.RefundRequested{}, events.RefundApproved{}, events.RefundCompleted{}, events.RefundFailed{},
	events.RefundSubmitted{}, events.RefundDoubted{},
	events.DunningBegan{}, events.DunningReminded{}, events.WalledGardenEntered{}, events.ServiceSuspended{},
	events.AddressLookedUp{},
	events.WriteOffProposed{}, events.DunningEnded{}, events.HoldPlaced{}, events.HoldLifted{},
	events.DunningClockStopped{}, events.DunningClockStarted{},
	events.FirstSessionBegan{}, events.CapWarned{}, events.CapReached{}, events.CapReset{},
	events.TopUpOrdered{}, events.TopUpAdded{},
	events.SessionChanged{}, events.SessionChangeRefused{},
	events.AccessDifferenceOpened{}, events.AccessDifferenceClosed{}, events.AccessRepairAsked{},
	events.MessageSent{}, events.MessageFailed{}, events.MessageDropped{},
	events.MessageDoubted{}, events.MessageUndelivered{},
	events.SupportRequestOpened{}, events.SupportRequestContinued{}, events.SupportRequestAnswered{},
	events.SupportRequestNoted{}, events.SupportRequestAssigned{}, events.SupportRequestClosed{},
	events.ApprovalRequested{}, events.ApprovalGranted{}, events.ApprovalRefused{}, events.ApprovalWithdrawn{},
	events.ApprovalExpired{}, events.ApprovalFailed{},
	events.PaidTimeCarriedOver{}, events.BalanceCarriedOver{},
	events.DocumentSigned{}, events.SignatureRefused{}, events.SignatureRetried{}, events.CancellationDue{},
	events.BillSent{}, events.BillFailed{}, events.BillCancelled{}, events.BillAcknowledged{},
	events.CpeClaimed{}, events.CpeAssigned{}, events.CpeSubscriberAssigned{}, events.CpeSubscriberRemoved{},
	events.CpeOperationQueued{}, events.CpeOnuAsked{},
}

// Handles lists the events that change the tables.
func (Timeline) Handles() []string {
	names := make([]string, len(timelineEvents))
	for i, e := range timelineEvents {
		names[i] = e.EventType()
	}
	return append(names, events.ReceiptDisputed{}.EventType())
}

// SQL of Apply. An event that the provider or a process caused may have no organization in its metadata; the row then
// takes the organization of the subscriber's first row.
const (
	// knownSQL is for an event that names its organization and no invoice: many of these are one statement.
	knownSQL = `insert into {schema}.timeline (subscriber_id, position, org_id, event_id, at, type, code, facts,
			actor_kind, actor_id, actor_role, reason, cause_type, cause_id)
		values (@subscriber, @position, @org, @event, @at, @type, @code, @facts, @actor_kind, @actor_id, @actor_role,
			@reason, @cause_type, @cause) on conflict (subscriber_id, position) do nothing`
	happenedSQL = `insert into {schema}.timeline (subscriber_id, position, org_id, event_id, at, type, code, facts,
			actor_kind, actor_id, actor_role, reason, cause_type, cause_id)
		select @subscriber::uuid, @position::bigint, o.org_id, @event, @at, @type, @code,
			@facts::jsonb || case when n.number is null then '{}' else jsonb_build_object('invoice', n.number) end,
			@actor_kind, @actor_id, @actor_role, @reason, @cause_type, @cause
		from (select coalesce(@org::uuid, (select org_id from {schema}.timeline where subscriber_id = @subscriber::uuid
			and position < @position::bigint order by position limit 1)) as org_id) o
		left join {schema}.numbers n on n.invoice_id = @invoice::uuid
		where o.org_id is not null on conflict (subscriber_id, position) do nothing`
	numberSQL = `insert into {schema}.numbers (invoice_id, org_id, number) values ($1, $2, $3)
		on conflict (invoice_id) do nothing`
	// The money of a receipt is on the account that credited it last, unless the receipt has left it since.
	disputedSQL = `insert into {schema}.timeline (subscriber_id, position, org_id, event_id, at, type, code, facts,
			actor_kind, actor_id, actor_role, reason, cause_type, cause_id)
		select c.subscriber_id, @position::bigint, c.org_id, @event, @at, @type, @code, '{}', @actor_kind, @actor_id,
			@actor_role, '', 'receipt', c.cause_id
		from (select * from {schema}.timeline where cause_id = @receipt::uuid and cause_type = 'receipt'
			and type = 'billing.ReceiptCredited' and position < @position::bigint order by position desc limit 1) c
		where not exists (select from {schema}.timeline gone where gone.cause_id = @receipt::uuid
			and gone.cause_type = 'receipt' and gone.position > c.position and gone.position < @position::bigint
			and gone.type in ('payments.ReceiptReversed', 'payments.ReceiptReattributed', 'payments.ReceiptAbsorbed'))
		on conflict (subscriber_id, position) do nothing`
	// Both subscribers of money that moved have the same reason, so forgetting one erases it with both.
	forgetReasonsSQL = `update {schema}.timeline set reason = '' where reason <> '' and position <= $2
		and cause_id in (select cause_id from {schema}.timeline where subscriber_id = $1)`
)

// happening is the row that an event adds to one subscriber's timeline.
type happening struct {
	subscriber id.Subscriber
	says       Sentence
	reason     string // "" = the reason of the command
	causeType  string
	cause      id.Any
	invoice    id.Invoice // that the sentence names by its number, when it has one; zero = none
}

// Apply queues one row for each subscriber that the event concerns. Forgetting a subscriber also erases the reasons of
// earlier rows.
func (Timeline) Apply(w *runner.Writes, e events.Envelope) error {
	for _, h := range happenings(e.Event) {
		if !h.subscriber.IsZero() {
			tell(w, e, h)
		}
	}
	switch v := e.Event.(type) {
	case events.SubscriberForgotten:
		w.Exec(forgetReasonsSQL, v.SubscriberID, int64(e.Position)) //nolint:gosec // positions fit
	case events.InvoiceIssued:
		w.Exec(numberSQL, v.InvoiceID, v.OrgID, v.Number)
	case events.ReceiptDisputed:
		w.Exec(disputedSQL, pgx.NamedArgs{
			"receipt": v.ReceiptID, "position": int64(e.Position), //nolint:gosec // positions fit
			"event": e.ID, "at": e.Meta.At, "type": unversioned(e.Type),
			"actor_kind": string(e.Meta.Actor.Kind), "actor_id": e.Meta.Actor.ID, "actor_role": e.Meta.Actor.Role,
			"code": says("receipt_disputed", Facts{}).Code,
		})
	}
	return nil
}

// tell queues one row; applying the event again adds none.
func tell(w *runner.Writes, e events.Envelope, h happening) {
	m := e.Meta
	if h.reason == "" {
		h.reason = m.Why()
	}
	sql, row := knownSQL, pgx.NamedArgs{
		"subscriber": h.subscriber, "position": int64(e.Position), //nolint:gosec // positions fit
		"org": m.OrgID, "event": e.ID, "at": m.At, "type": unversioned(e.Type),
		"code": h.says.Code, "facts": h.says.Facts, "reason": h.reason,
		"actor_kind": string(m.Actor.Kind), "actor_id": m.Actor.ID, "actor_role": m.Actor.Role,
		"cause_type": h.causeType, "cause": h.cause,
	}
	if m.OrgID.IsZero() || !h.invoice.IsZero() {
		sql, row["invoice"] = happenedSQL, h.invoice
	}
	w.Exec(sql, row)
}

// unversioned cuts the version off an event type: "billing.InvoiceIssued".
func unversioned(name string) string { return name[:max(0, strings.LastIndexByte(name, '.'))] }

// happenings returns one happening for each subscriber that an event concerns. A zero subscriber in it means no row.
func happenings(e events.Event) []happening {
	switch v := e.(type) {
	case events.SubscriberEvent:
		return []happening{ofSubscriber(v)}
	case events.SubscriptionEvent:
		return []happening{ofSubscription(v)}
	case events.AccountEvent:
		return []happening{ofAccount(v)}
	case events.PaymentEvent:
		return []happening{ofPayment(v)}
	case events.ReceiptEvent:
		return ofReceipt(v)
	case events.RefundEvent:
		return []happening{ofRefund(v)}
	case events.DunningEvent:
		return []happening{ofDunning(v)}
	case events.UsageEvent:
		return []happening{ofUsage(v)}
	case events.EnforcementEvent:
		return []happening{ofEnforcement(v)}
	case events.DifferenceEvent:
		return []happening{ofDifference(v)}
	case events.AddressLookedUp:
		return []happening{{
			subscriber: v.SubscriberID, says: says("address_looked_up", Facts{}), causeType: "lookup",
			cause: id.Any(v.LookupID),
		}}
	case events.MessageEvent:
		return []happening{ofMessage(v)}
	case events.SupportEvent:
		return []happening{ofSupport(v)}
	case events.ApprovalEvent:
		return []happening{ofApproval(v)}
	case events.SignatureEvent:
		return []happening{ofSignature(v)}
	case events.BillEvent:
		return []happening{ofBill(v)}
	case events.CpeEvent:
		return []happening{ofCpe(v)}
	case events.CpeOperationEvent:
		return []happening{ofCpeOperation(v)}
	case events.CpeOnuAsked:
		return []happening{{
			subscriber: v.SubscriberID, says: says("cpe_onu_asked", Facts{}), causeType: "cpe", cause: id.Any(v.CpeID),
		}}
	case events.UserEvent:
		return []happening{ofUser(v)}
	}
	return nil
}

// ofSubscriber describes events of the subscriber's own stream without repeating personal data.
func ofSubscriber(e events.SubscriberEvent) happening {
	about := func(s id.Subscriber, reason string, told Sentence) happening {
		return happening{subscriber: s, says: told, reason: reason, causeType: "subscriber", cause: id.Any(s)}
	}
	switch v := e.(type) {
	case events.SubscriberRegistered:
		return about(v.SubscriberID, "", says("subscriber_registered", Facts{}))
	case events.SubscriberDetailsCorrected:
		return about(v.SubscriberID, "", says("subscriber_corrected", Facts{}))
	case events.SubscriberBlocked:
		return about(v.SubscriberID, v.Reason.Reveal(), says("subscriber_blocked", Facts{}))
	case events.SubscriberUnblocked:
		return about(v.SubscriberID, v.Reason.Reveal(), says("subscriber_unblocked", Facts{}))
	case events.SubscriberForgotten:
		return about(v.SubscriberID, v.Reason, says("subscriber_forgotten", Facts{}))
	}
	return happening{}
}

// ofUser tells who sees from now on what is the subscriber's, and who does not any more. The user's address is not
// told.
func ofUser(e events.UserEvent) happening {
	switch v := e.(type) {
	case events.PortalAccessGiven:
		return happening{
			subscriber: v.SubscriberID, says: says("portal_access_given", Facts{}), causeType: "user",
			cause: id.Any(v.UserID),
		}
	case events.PortalAccessEnded:
		return happening{
			subscriber: v.SubscriberID, says: says("portal_access_ended", Facts{}), causeType: "user",
			cause: id.Any(v.UserID),
		}
	default: // what else a user does is no subscriber's
		return happening{}
	}
}

// ofSubscription describes the life and the paid periods of a subscription.
func ofSubscription(e events.SubscriptionEvent) happening {
	about := func(s id.Subscriber, subscription id.Subscription, reason string, told Sentence) happening {
		return happening{
			subscriber: s, says: told, reason: reason, causeType: "subscription", cause: id.Any(subscription),
		}
	}
	paid := func(s id.Subscriber, invoice id.Invoice, reason string, told Sentence) happening {
		return happening{subscriber: s, says: told, reason: reason, causeType: "invoice", cause: id.Any(invoice)}
	}
	switch v := e.(type) {
	case events.SubscriptionCreated:
		return about(v.SubscriberID, v.SubscriptionID, "", says("subscription_created", Facts{Plan: v.Terms.Name}))
	case events.PeriodDue:
		return about(v.SubscriberID, v.SubscriptionID, "", says("period_due", Facts{}))
	case events.SubscriptionActivated:
		return about(v.SubscriberID, v.SubscriptionID, "", says("subscription_started", Facts{}))
	case events.PaidTimeCarriedOver:
		return about(v.SubscriberID, v.SubscriptionID, "", says("paid_time_carried_over", Facts{Until: v.PaidUntil}))
	case events.SubscriptionExtended:
		if !v.Part.IsZero() {
			return paid(v.SubscriberID, v.InvoiceID, "", says("days_bought", Facts{Days: v.Part.Days}))
		}
		return paid(v.SubscriberID, v.InvoiceID, "", says("subscription_extended", Facts{}))
	case events.PeriodWithdrawn:
		return paid(v.SubscriberID, v.InvoiceID, v.Reason.Reveal(), says("period_withdrawn", Facts{}))
	case events.PeriodCancelled:
		if !v.UndoneRun.IsZero() {
			return paid(v.SubscriberID, v.InvoiceID, "", says("period_undone", Facts{}))
		}
		if v.NeverBegan {
			return paid(v.SubscriberID, v.InvoiceID, "", says("period_never_began", Facts{}))
		}
		return paid(v.SubscriberID, v.InvoiceID, "", says("period_cancelled", Facts{}))
	case events.PeriodReissued:
		return paid(v.SubscriberID, v.CorrectedID, "", says("period_reissued", Facts{}))
	case events.SubscriptionPaused, events.SubscriptionResumed, events.BillingSuspended, events.BillingResumed,
		events.SubscriptionCompensated, events.CompensationTakenBack:
		return ofStops(v)
	case events.SubscriptionEnded:
		return about(v.SubscriberID, v.SubscriptionID, v.Reason.Reveal(), says("subscription_ended", Facts{}))
	case events.SubscriptionAddressesAssigned:
		return about(v.SubscriberID, v.SubscriptionID, "", says("addresses_assigned", Facts{}))
	case events.SubscriptionCredentialsSet:
		return about(v.SubscriberID, v.SubscriptionID, "", says("credentials_set", Facts{}))
	case events.SubscriptionCredentialsShown:
		return about(v.SubscriberID, v.SubscriptionID, "", says("credentials_shown", Facts{}))
	case events.SubscriptionPlanChanged, events.PlanChangePlanned, events.PlanChangeDropped, events.ExtraAdded,
		events.ExtraRemoved, events.ChargesDue:
		return ofPrice(v)
	case events.PlanChangeMoved, events.SubscriptionPeriodClosed, events.UndoneWaitEnded: // bookkeeping, no row
	}
	return happening{}
}

// ofStops tells of times without service, and what was given for them.
func ofStops(e events.SubscriptionEvent) happening {
	about := func(s id.Subscriber, of id.Subscription, reason string, told Sentence) happening {
		return happening{subscriber: s, says: told, reason: reason, causeType: "subscription", cause: id.Any(of)}
	}
	switch v := e.(type) {
	case events.SubscriptionPaused:
		return about(v.SubscriberID, v.SubscriptionID, v.Reason.Reveal(), says("subscription_paused", Facts{}))
	case events.SubscriptionResumed:
		return about(v.SubscriberID, v.SubscriptionID, v.Reason.Reveal(), says("subscription_resumed", Facts{}))
	case events.BillingSuspended:
		return about(v.SubscriberID, v.SubscriptionID, "", says("billing_suspended", Facts{}))
	case events.BillingResumed:
		if v.From.Equal(v.At) {
			return about(v.SubscriberID, v.SubscriptionID, "", says("billing_resumed", Facts{}))
		}
		missed := Facts{From: v.From, Until: v.At}
		return about(v.SubscriberID, v.SubscriptionID, "", says("billing_resumed_missed", missed))
	case events.SubscriptionCompensated:
		facts := Facts{Days: v.Days, From: v.From, Until: v.To}
		if v.Days > 0 {
			return about(v.SubscriberID, v.SubscriptionID, "", says("compensated_days", facts))
		}
		return about(v.SubscriberID, v.SubscriptionID, "", says("compensated_money", facts))
	case events.CompensationTakenBack:
		facts := Facts{Days: v.Days, From: v.From, Until: v.To}
		return about(v.SubscriberID, v.SubscriptionID, "", says("compensation_taken_back", facts))
	default: // the others stop nothing
	}
	return happening{}
}

// ofPrice tells what changes the price of the next invoices.
func ofPrice(e events.SubscriptionEvent) happening {
	about := func(s id.Subscriber, of id.Subscription, reason string, told Sentence) happening {
		return happening{subscriber: s, says: told, reason: reason, causeType: "subscription", cause: id.Any(of)}
	}
	switch v := e.(type) {
	case events.SubscriptionPlanChanged:
		return about(v.SubscriberID, v.SubscriptionID, "", says("plan_changed", Facts{Plan: v.Terms.Name}))
	case events.PlanChangePlanned:
		return about(v.SubscriberID, v.SubscriptionID, "", says("plan_change_planned", Facts{Plan: v.Terms.Name}))
	case events.PlanChangeDropped:
		return about(v.SubscriberID, v.SubscriptionID, "", says("plan_change_dropped", Facts{Plan: v.Terms.Name}))
	case events.ExtraAdded:
		return about(v.SubscriberID, v.SubscriptionID, v.Description.Reveal(), extraAdded(v.Extra))
	case events.ExtraRemoved:
		return about(v.SubscriberID, v.SubscriptionID, "", extraRemoved(v.Extra))
	case events.ChargesDue:
		return about(v.SubscriberID, v.SubscriptionID, "", says("charges_due", Facts{}))
	default: // the other events change no price
	}
	return happening{}
}
