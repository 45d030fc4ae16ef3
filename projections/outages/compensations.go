package outagesviews

import (
	_ "embed"
	"encoding/json"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/projections/runner"
)

// CompensationsName keys the projection's checkpoint and schemas, so it never changes.
const CompensationsName = "outages_compensations"

// Compensations lists what customers get for times without service, and how far the giving is.
type Compensations struct{}

// compensationsDDL is compiled in from compensations.sql.
//
//go:embed compensations.sql
var compensationsDDL string

// Name keys checkpoint and schemas.
func (Compensations) Name() string { return CompensationsName }

// Version must grow with every change to the tables or to Apply.
func (Compensations) Version() int { return 3 }

// DDL creates the tables of compensations.sql.
func (Compensations) DDL() string { return compensationsDDL }

// TenantTables are under row-level security.
func (Compensations) TenantTables() []string { return []string{"compensations", "items", "notes"} }

// Handles lists the events that change the tables.
func (Compensations) Handles() []string {
	return []string{
		events.CompensationPreviewed{}.EventType(), events.CompensationListed{}.EventType(),
		events.CompensationApplied{}.EventType(), events.CompensationPartDone{}.EventType(),
		events.CompensationFinished{}.EventType(), events.SubscriptionCompensated{}.EventType(),
		events.CompensationTakenBack{}.EventType(), events.CreditNoteDrafted{}.EventType(),
	}
}

// SQL of Apply. The sums of a part are added once: the part is then among those that are done.
const (
	previewedSQL = `
insert into {schema}.compensations
	(compensation_id, org_id, device_id, service_id, tag, outage_id, from_at, to_at, give, reason, subscriptions,
	parts, previewed_at, previewed_by, revision)
values
	(@compensation, @org, @device, @service, @tag, @outage, @from, @to, @give, @reason, @subscriptions, @parts, @at,
	@by, @revision)
on conflict (compensation_id) do nothing`
	listedSQL = `
insert into {schema}.items
	(compensation_id, number, org_id, subscription_id, subscriber_id, days, amount_minor, currency, code, foreseen)
values (@compensation, @number, @org, @subscription, @subscriber, @days, @amount, @currency, @code, @code <> '')
on conflict (compensation_id, number) do nothing`
	appliedSQL = `
update {schema}.compensations set applied_at = $2, applied_by = $3, revision = $4 where compensation_id = $1`
	partDoneSQL = `
update {schema}.compensations
set parts_done = parts_done || @part::int, given = given + @given::int, refused = refused + @refused::int,
	revision = @revision
where compensation_id = @compensation and not @part::int = any(parts_done)`
	refusedSQL = `
update {schema}.items set code = $3 where compensation_id = $1 and subscription_id = $2`
	finishedSQL = `
update {schema}.compensations set finished_at = $2, revision = $3 where compensation_id = $1`
	givenSQL = `
update {schema}.items
set given = true, code = '', days = $3, amount_minor = case when $3 > 0 then 0 else amount_minor end
where compensation_id = $1 and subscription_id = $2`
	noteSQL = `
insert into {schema}.notes (credit_note_id, org_id, compensation_id, subscription_id) values ($1, $2, $3, $4)
on conflict (credit_note_id) do nothing`
	draftedSQL = `
with note as (
	update {schema}.notes set amount_minor = $2 where credit_note_id = $1 returning *
)
update {schema}.items i set currency = $3, amount_minor = $2 + (
	select coalesce(sum(o.amount_minor), 0) from {schema}.notes o where o.compensation_id = n.compensation_id
		and o.subscription_id = n.subscription_id and o.credit_note_id <> $1
) from note n where i.compensation_id = n.compensation_id and i.subscription_id = n.subscription_id`
	revisedSQL = `update {schema}.compensations set revision = $2 where compensation_id = $1`
)

// Apply queues the statements for one event.
func (Compensations) Apply(w *runner.Writes, e events.Envelope) error {
	revision := int64(e.Revision) //nolint:gosec // fits
	switch v := e.Event.(type) {
	case events.CompensationPreviewed:
		give, err := json.Marshal(v.Give)
		if err != nil {
			return fmt.Errorf("marshal give: %w", err)
		}
		w.Exec(previewedSQL, pgx.NamedArgs{
			"compensation": v.CompensationID, "org": v.OrgID, "device": v.Place.DeviceID,
			"service": v.Place.ServiceID, "tag": v.Place.Tag, "outage": v.OutageID, "from": v.From, "to": v.To,
			"give": string(give), "reason": v.Reason, "subscriptions": v.Subscriptions, "parts": v.Parts, "at": v.At,
			"by": userOf(e.Meta.Actor), "revision": revision,
		})
	case events.CompensationListed:
		for i, item := range v.Items {
			w.Exec(listedSQL, pgx.NamedArgs{
				"compensation": v.CompensationID, "number": v.Part*partRoom + i, "org": v.OrgID,
				"subscription": item.SubscriptionID, "subscriber": item.SubscriberID, "days": item.Days,
				"amount": item.Amount.Minor, "currency": string(item.Amount.Currency), "code": item.Code,
			})
		}
		w.Exec(revisedSQL, v.CompensationID, revision)
	case events.CompensationApplied:
		w.Exec(appliedSQL, v.CompensationID, v.At, userOf(e.Meta.Actor), revision)
	case events.CompensationPartDone:
		w.Exec(partDoneSQL, pgx.NamedArgs{
			"compensation": v.CompensationID, "part": v.Part, "given": v.Given, "refused": len(v.Refused),
			"revision": revision,
		})
		for _, r := range v.Refused {
			w.Exec(refusedSQL, v.CompensationID, r.SubscriptionID, r.Code)
		}
	case events.CompensationFinished:
		w.Exec(finishedSQL, v.CompensationID, v.At, revision)
	case events.CompensationTakenBack:
		w.Exec(`update {schema}.items set given = false, code = 'taken_back' where compensation_id = $1
			and subscription_id = $2`, v.CompensationID, v.SubscriptionID)
	case events.SubscriptionCompensated:
		w.Exec(givenSQL, v.CompensationID, v.SubscriptionID, v.Days)
		for _, c := range v.Credits {
			w.Exec(noteSQL, events.CompensationNote(v.CompensationID, c.InvoiceID, v.SubscriptionID), e.Meta.OrgID,
				v.CompensationID, v.SubscriptionID)
		}
	case events.CreditNoteDrafted:
		w.Exec(draftedSQL, v.CreditNoteID, v.Amount.Minor, string(v.Amount.Currency))
	}
	return nil
}

// partRoom is more than a part has subscriptions, so that the numbers of two parts stay apart.
const partRoom = 10_000
