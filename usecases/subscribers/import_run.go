package subscriberscases

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/subscribers"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/internal/calendar"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/money"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/projections/subscribers"
	"github.com/lastmile-isp/lastmile/usecases"
)

// importWriters is how many rows are taken in side by side: the log collects what comes at the same moment.
const importWriters = 64

// what became of a row.
type outcome struct {
	skipped bool
	fault   *events.ImportFault // nil = the row is taken in, or skipped
}

// RunPart takes the rows of a part in and records it; meta is that of the job's outcome. A part that was recorded
// changes nothing, and after the last one the stored rows are removed. Ids of what a row makes, and of its commands,
// follow from import and row: a part that is begun again finds what was made before. Fails: import_not_found,
// file_gone, and as the store does.
func (u Imports) RunPart(ctx context.Context, part commands.RunImportPart, meta commands.Meta) error {
	state, _, err := bus.LoadOwned[subscribers.Import](ctx, u.Bus, part.OrgID, part.ImportID)
	if err != nil {
		return err
	}
	if part.Round == state.Round && !state.Finished && part.Part >= state.Next {
		record, err := u.takeIn(ctx, part, meta)
		if err != nil {
			return err
		}
		if _, err := u.Bus.Execute(ctx, record, meta); err != nil {
			return err
		}
	}
	if part.Part < state.Parts-1 && part.Round == state.Round {
		return nil
	}
	return u.Files.Delete(ctx, commands.ImportFile(part.ImportID, part.Round))
}

// LosePart ends an import a part of which can never be taken in, and removes what is left of its rows; meta is that of
// the job's outcome. Fails: import_not_found.
func (u Imports) LosePart(ctx context.Context, part commands.RunImportPart, meta commands.Meta) error {
	lose := commands.LoseImportRows{ImportID: part.ImportID, Round: part.Round}
	if _, err := u.Bus.Execute(ctx, lose, meta); err != nil {
		return err
	}
	return u.Files.Delete(ctx, commands.ImportFile(part.ImportID, part.Round))
}

// takeIn makes the customers of a part, several side by side.
func (u Imports) takeIn(
	ctx context.Context, part commands.RunImportPart, meta commands.Meta,
) (commands.RecordImportPart, error) {
	record := commands.RecordImportPart{ImportID: part.ImportID, Round: part.Round, Part: part.Part}
	text, err := u.Files.Get(ctx, part.OrgID, commands.ImportFile(part.ImportID, part.Round), part.Part)
	if err != nil {
		return record, err
	}
	var rows []importRow
	if err := json.Unmarshal(text, &rows); err != nil {
		return record, fmt.Errorf("read rows of part %d: %w", part.Part, err)
	}
	settings, err := usecases.BillingSettings(ctx, u.Bus, part.OrgID)
	if err != nil {
		return record, err
	}
	taken, err := u.Taken(ctx, part.OrgID, valuesOf(rows))
	if err != nil {
		return record, err
	}
	taker := rowTaker{u: u, part: part, meta: meta, settings: settings, taken: taken}
	if taker.served, err = u.servedOf(ctx, part.OrgID, rows); err != nil {
		return record, err
	}
	if err := taker.keys(ctx, rows); err != nil {
		return record, err
	}
	outcomes, err := taker.all(ctx, rows)
	if err != nil {
		return record, err
	}
	for _, o := range outcomes {
		switch {
		case o.fault != nil:
			record.Failed++
			record.Faults = append(record.Faults, *o.fault)
		case o.skipped:
			record.Skipped++
		default:
			record.Created++
		}
	}
	return record, nil
}

// servedOf tells which of the customers whom rows complete have a service meanwhile.
func (u Imports) servedOf(
	ctx context.Context, org id.Organization, rows []importRow,
) (map[id.Subscriber]bool, error) {
	var who []id.Subscriber
	for _, row := range rows {
		if !row.Completes.IsZero() {
			who = append(who, row.Completes)
		}
	}
	if len(who) == 0 {
		return nil, nil
	}
	return u.Served(ctx, org, who)
}

// rowTaker takes rows of one part in.
type rowTaker struct {
	u        Imports
	part     commands.RunImportPart
	meta     commands.Meta
	settings events.BillingSettings
	taken    map[string]subscribersviews.TakenRow
	served   map[id.Subscriber]bool // of those whom rows complete
}

// keys makes the keys of the customers of a part together: each by itself would cost three round trips. Where one of
// them was erased meanwhile, each row finds its own.
func (t rowTaker) keys(ctx context.Context, rows []importRow) error {
	var persons []uuid.UUID
	for _, row := range rows {
		own := t.subscriber(row)
		if f := foundAmong(t.taken, row, own); !f.here && len(f.faults) == 0 {
			persons = append(persons, own.UUID())
		}
	}
	_, err := t.u.PersonKeys(ctx, persons)
	if failure.CodeOf(err) == "subject_forgotten" {
		return nil
	}
	return err
}

// subscriber is the id of the customer whom a row makes, or completes.
func (t rowTaker) subscriber(row importRow) id.Subscriber {
	if !row.Completes.IsZero() {
		return row.Completes
	}
	return importedAs(t.part.ImportID, row.Row)
}

// importedAs is the id of the customer whom a row of an import makes.
func importedAs(of id.Import, row int) id.Subscriber {
	asked := usecases.Asked{Meta: commands.Meta{CommandID: rowCommand(of, row, "subscriber")}, Keyed: true}
	return usecases.NewID[id.Subscriber](asked, "subscriber")
}

// rowCommand follows from import, row and step, so that a step that comes again is known.
func rowCommand(of id.Import, row int, step string) id.Command {
	return id.Derive[id.Command]("import", of.String(), fmt.Sprint(row), step)
}

// brokenRow is the fault of a row at which the program failed.
const brokenRow = "could not be taken in: the program failed at it, and its log says why"

// all takes rows in, importWriters at a time. One at which the program fails is a fault and stops no other.
func (t rowTaker) all(ctx context.Context, rows []importRow) ([]outcome, error) {
	outcomes, ids := make([]outcome, len(rows)), make([]id.Subscriber, len(rows))
	for i, row := range rows {
		ids[i] = t.subscriber(row)
	}
	items := usecases.Items{Logger: t.u.Logger, Batch: t.part.ImportID, Crew: importWriters}
	codes, err := usecases.EachItem(ctx, items, ids, func(i int) (err error) {
		outcomes[i], err = t.one(ctx, rows[i])
		return err
	})
	for i, code := range codes {
		if code != "" {
			outcomes[i].fault = &events.ImportFault{Row: rows[i].Row, Message: brokenRow}
		}
	}
	return outcomes, err
}

// asked is who asks for a step of a row. Each step has a command of its own, and what it makes has its id from there.
func (t rowTaker) asked(row int, step string) usecases.Asked {
	meta := t.meta
	meta.CommandID = rowCommand(t.part.ImportID, row, step)
	meta.CorrelationID = t.part.ImportID.String()
	return usecases.Asked{Meta: meta, Keyed: true}
}

// halfRow begins the fault of a row whose customer was made before something of it was refused.
const halfRow = "is taken in without its service, which a mended file brings: "

// blockedThere is the reason of the block of a customer who was banned or disabled where the file comes from.
const blockedThere = "Blocked in the system from which the customer was imported."

// one takes a row in: the customer, then the balance, so that money that was paid ahead is there when the first invoice
// comes, then the service. Of a plan that is not sold any more nothing is made. A refusal is the row's fault; any other
// error ends the part, which begins again later.
func (t rowTaker) one(ctx context.Context, row importRow) (outcome, error) {
	switch f := foundAmong(t.taken, row, t.subscriber(row)); {
	case len(f.faults) > 0:
		return refusedRow(row, f.faults.Err())
	case f.here:
		return outcome{skipped: true}, nil
	}
	if stop, err := t.settled(ctx, row); err != nil || stop.skipped || stop.fault != nil {
		return stop, err
	}
	if row.Completes.IsZero() {
		_, _, err := t.u.Subscribers.register(ctx, t.asked(row.Row, "subscriber"), row.details(),
			personal.Of(row.Key))
		if err != nil {
			return refusedRow(row, err)
		}
	}
	if row.State == StateBlocked && row.Completes.IsZero() { // before the service, which nobody may use for a moment
		block := t.asked(row.Row, "block")
		if _, err := t.u.Bus.Execute(ctx, commands.BlockSubscriber{
			SubscriberID: t.subscriber(row), Reason: blockedThere,
		}, block.Meta); err != nil {
			return refusedRow(row, err)
		}
	}
	out, err := t.balanceAndService(ctx, row)
	if out.fault != nil {
		out.fault.Message = halfRow + out.fault.Message
	}
	return out, err
}

// settled tells what is decided of a row before anything of it is made: that its plan is not sold any more, or that the
// customer whom it completes has a service meanwhile. The zero outcome goes on. One whose service the import has made
// before goes on too.
func (t rowTaker) settled(ctx context.Context, row importRow) (outcome, error) {
	if row.Plan.IsZero() {
		return outcome{}, nil
	}
	_, refusal := t.u.Subscriptions.sold(ctx, t.part.OrgID, row.Plan)
	if refusal == nil && row.Completes.IsZero() {
		return outcome{}, nil
	}
	own, err := t.madeService(ctx, row)
	switch {
	case err != nil || own:
		return outcome{}, err
	case refusal != nil:
		return refusedRow(row, refusal)
	}
	first, err := t.u.Subscriptions.made(ctx, t.part.OrgID, firstOf(row.Completes))
	return outcome{skipped: t.served[row.Completes] || !first.ID.IsZero()}, err
}

// madeService reports whether the service of a row was made by the same row before.
func (t rowTaker) madeService(ctx context.Context, row importRow) (bool, error) {
	asked := t.asked(row.Row, "subscription")
	of := usecases.NewID[id.Subscription](asked, "subscription")
	if !row.Completes.IsZero() {
		of = firstOf(row.Completes)
	}
	made, err := t.u.Subscriptions.made(ctx, t.part.OrgID, of)
	if err != nil || made.ID.IsZero() || row.Completes.IsZero() {
		return !made.ID.IsZero(), err
	}
	again, err := t.u.Bus.Would(ctx, commands.CreateSubscription{
		SubscriptionID: of, OrgID: t.part.OrgID, Username: made.Username,
	}, asked.Meta)
	if failure.KindOf(err) == failure.Conflict { // another file has made it
		return false, nil
	}
	return again.Acted, err
}

// balanceAndService makes what a row has beside the customer. An account has one opening balance, so that a customer
// who is completed gets none twice.
func (t rowTaker) balanceAndService(ctx context.Context, row importRow) (outcome, error) {
	subscriber := t.subscriber(row)
	if row.Balance != 0 {
		balance := t.asked(row.Row, "balance")
		if _, err := t.u.Bus.Execute(ctx, commands.CarryBalanceOver{
			SubscriberID: subscriber, OrgID: t.part.OrgID, Amount: money.Of(row.Balance, t.settings.Currency),
			DueOn: t.today(),
		}, balance.Meta); err != nil {
			return refusedRow(row, err)
		}
	}
	if row.Plan.IsZero() {
		return outcome{}, nil
	}
	_, err := t.u.Subscriptions.Create(ctx, t.asked(row.Row, "subscription"), CreateSubscriptionInput{
		SubscriberID: subscriber, PlanID: row.Plan, Username: personal.Of(row.Username),
		Password: secrets.Text(row.Password), Addresses: row.addresses(), PaidUntil: row.PaidUntil,
		BillingDay: row.BillingDay, First: !row.Completes.IsZero(),
	})
	if failure.CodeOf(err) == "subscription_exists" { // of another file, a moment ago
		return outcome{skipped: true}, nil
	}
	if err != nil {
		return refusedRow(row, err)
	}
	return outcome{}, nil
}

// today is the day on which a debt is due: that of the import. The zone was checked when the file was read.
func (t rowTaker) today() calendar.Date {
	zone, err := usecases.Zone(t.settings)
	if err != nil {
		return calendar.Date{}
	}
	return calendar.On(t.u.Clock.Now(), zone)
}

// refusedFields says which column a refusal is about.
var refusedFields = map[string]string{
	"username_taken": colUsername, "static_ip_taken": colStaticIP, "static_ipv6_prefix_taken": colPrefix,
	"route_taken": colRoutes, "account_alias_taken": colAliases,
	"plan_archived": colPlan, "plan_not_found": colPlan,
}

// refusedRow is a row that was refused, or the error when it was no refusal.
func refusedRow(row importRow, err error) (outcome, error) {
	var f *failure.Error
	if !errors.As(err, &f) {
		return outcome{}, err
	}
	switch f.Kind {
	case failure.Invalid, failure.Conflict, failure.NotFound:
	default:
		return outcome{}, err
	}
	fault := events.ImportFault{Row: row.Row, Field: refusedFields[f.Code], Message: f.Message}
	if len(f.Faults) > 0 {
		fault = faultOf(row.Row, f.Faults[0])
	}
	return outcome{fault: &fault}, nil
}
