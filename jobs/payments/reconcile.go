package paymentsjobs

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// statementPage is how many receipts are read with one statement.
const statementPage = 5_000

// registerReconciliation adds the jobs about statements. Either may be repeated: a comparison changes nothing, and a
// receipt is recorded once, whoever tells of it.
func (w *Workers) registerReconciliation(r *jobrunner.Runner) {
	options := jobrunner.Options{
		Queue: "statements", Timeout: 10 * time.Minute, MaxAttempts: 10,
		Backoff: jobrunner.Doubling(time.Second, time.Minute),
	}
	jobrunner.AddWorker(r, w.CompareStatement, options)
	jobrunner.AddWorker(r, w.AdoptStatement, options)
	jobrunner.OnDiscarded(r, w.ComparisonLost)
	jobrunner.OnDiscarded(r, w.AdoptionLost)
}

// CompareStatement finds the differences between an uploaded statement and the receipts.
func (w *Workers) CompareStatement(ctx context.Context, args commands.CompareStatement, cause jobs.Cause) error {
	if err := w.cfg.Views.WaitFor(ctx, paymentsviews.ReceiptsName, args.Position); err != nil {
		return err
	}
	of, statement, err := w.statement(ctx, args.ReconciliationID)
	if err != nil {
		return w.reconciliationFailed(ctx, cause, args.ReconciliationID, err)
	}
	_, figures, err := w.compare(ctx, of, statement)
	if err != nil {
		return err
	}
	_, err = w.report(ctx, cause, commands.FinishComparison{ReconciliationID: of.ID, Figures: figures})
	return passed(err)
}

// statement reads an uploaded statement. Fails: statement_gone.
func (w *Workers) statement(
	ctx context.Context, which id.Reconciliation,
) (of payments.Reconciliation, s mobilemoney.Statement, err error) {
	if of, _, err = bus.LoadUnchecked[payments.Reconciliation](ctx, w.cfg.Bus, which); err != nil {
		return of, s, err
	}
	file, err := w.cfg.Statements.Get(ctx, which)
	if err != nil {
		return of, s, err
	}
	if file == nil {
		return of, s, commands.ErrStatementGone()
	}
	s, err = mobilemoney.ReadStatement(file, column.DateOrder(of.DateOrder))
	return of, s, err
}

// compare finds the differences, and keeps them for whoever reads the reconciliation.
func (w *Workers) compare(
	ctx context.Context, of payments.Reconciliation, s mobilemoney.Statement,
) (out paymentsviews.StatementOutcome, figures events.ReconciliationFigures, err error) {
	c := newComparison(s)
	till := paymentsviews.StatedTill{OrgID: of.Org, Environment: of.Environment, Shortcode: of.Shortcode}
	for page := range slices.Chunk(c.numbers(), statementPage) {
		found, err := w.receiptsHere(ctx, till, page)
		if err != nil {
			return out, figures, err
		}
		maps.Copy(c.here, found)
	}
	if err := w.sentBackLater(ctx, of, till, c); err != nil {
		return out, figures, err
	}
	var booked []paymentsviews.TillReceipt
	for after := (paymentsviews.TillReceipt{}); ; {
		page, err := w.receipts.OfTill(ctx, till, of.From, of.To, after, statementPage)
		if err != nil {
			return out, figures, err
		}
		booked = append(booked, page...)
		if len(page) < statementPage {
			break
		}
		after = page[len(page)-1]
	}
	out, figures = c.outcome(booked)
	plain, err := json.Marshal(out)
	if err != nil {
		return out, figures, fmt.Errorf("write outcome: %w", err)
	}
	kept := vault.StatementOf{ID: of.ID, OrgID: of.Org, Shortcode: of.Shortcode}
	return out, figures, w.cfg.Statements.PutOutcome(ctx, kept, plain)
}

// sentBackLater adds the payments that other statements of the shortcode send back, or may send back: the provider does
// so on any later day. Statements that are not kept any more say nothing.
func (w *Workers) sentBackLater(
	ctx context.Context, of payments.Reconciliation, till paymentsviews.StatedTill, c comparison,
) error {
	others, err := w.reconciliations.Later(ctx, till, of.From, of.ID)
	if err != nil {
		return err
	}
	for _, other := range others {
		plain, err := w.cfg.Statements.Outcome(ctx, other)
		if err != nil {
			return err
		}
		if plain == nil {
			continue
		}
		var out paymentsviews.StatementOutcome
		if err := json.Unmarshal(plain, &out); err != nil {
			return fmt.Errorf("read outcome of reconciliation %s: %w", other, err)
		}
		for _, number := range out.SentBack {
			c.sentBack[number] = true
		}
		for _, number := range out.Doubtful {
			c.doubtful[number] = true
		}
	}
	return nil
}

// receiptsHere finds the receipts with some numbers of the provider. One of another organization, or on another
// shortcode, is not this money: then the receipt that the organization got beside it counts
// (docs/rules/money.md#contradictions).
func (w *Workers) receiptsHere(
	ctx context.Context, till paymentsviews.StatedTill, numbers []string,
) (map[string]paymentsviews.TillReceipt, error) {
	ids := make([]id.Receipt, 0, 3*len(numbers))
	numberOf := map[id.Receipt]string{}
	for _, number := range numbers {
		present := commands.ReceiptID(till.Environment, number)
		for _, one := range []id.Receipt{
			present, commands.LegacyReceiptID(number), commands.ContradictionID(present, till.OrgID),
		} {
			ids, numberOf[one] = append(ids, one), number
		}
	}
	here := map[string]paymentsviews.TillReceipt{}
	rows, err := w.receipts.ByID(ctx, ids)
	for _, r := range rows {
		if r.Shortcode == till.Shortcode && (till.OrgID.IsZero() || r.OrgID == till.OrgID) {
			here[numberOf[r.ID]] = r
		}
	}
	return here, err
}

// AdoptStatement records the payments of a statement that are missing here, and compares again. What came meanwhile is
// sighted a second time and credits nothing.
func (w *Workers) AdoptStatement(ctx context.Context, args commands.AdoptStatement, cause jobs.Cause) error {
	if err := w.cfg.Views.WaitFor(ctx, paymentsviews.ReceiptsName, args.Position); err != nil {
		return err
	}
	of, statement, err := w.statement(ctx, args.ReconciliationID)
	if err != nil {
		return w.reconciliationFailed(ctx, cause, args.ReconciliationID, err)
	}
	out, _, err := w.compare(ctx, of, statement)
	if err != nil {
		return err
	}
	var last uint64
	for _, p := range out.MissingHere {
		position, err := w.adopt(ctx, cause, of, p)
		if err != nil {
			return err
		}
		last = max(last, position)
	}
	if err := w.cfg.Views.WaitFor(ctx, paymentsviews.ReceiptsName, last); err != nil {
		return err
	}
	_, figures, err := w.compare(ctx, of, statement)
	if err != nil {
		return err
	}
	// What a try before this one took in counts, too: it ended without a report.
	_, err = w.report(ctx, cause, commands.FinishAdoption{
		ReconciliationID: of.ID, Figures: figures,
		Adopted: max(0, max(of.MissingHere, len(out.MissingHere))-figures.MissingHere),
	})
	return passed(err)
}

// adopt records one payment. It gives the position of what was recorded.
func (w *Workers) adopt(
	ctx context.Context, cause jobs.Cause, of payments.Reconciliation, p paymentsviews.StatedPayment,
) (uint64, error) {
	c := commands.RecordReceipt{
		OrgID: of.Org, Provider: commands.ProviderMobileMoney, Environment: of.Environment,
		ReceiptNumber: p.ReceiptNumber, Channel: commands.ChannelPaybill, Shortcode: of.Shortcode, Amount: p.Amount,
		PaidAt: p.PaidAt, PayerPhone: personal.Of(p.PayerPhone), PayerName: personal.Of(p.PayerName),
		BillRef: personal.Of(p.BillRef), Sighting: commands.SightingStatement,
	}
	var err error
	if c.ReceiptID, err = w.identify(ctx, c); err != nil {
		return 0, err
	}
	done, err := w.state(ctx, cause, of.ID, c)
	if err != nil {
		return 0, err
	}
	receipt, _, err := bus.LoadUnchecked[payments.Receipt](ctx, w.cfg.Bus, c.ReceiptID)
	if err != nil || !receipt.Elsewhere(c) {
		return done.Position, err
	}
	own := c
	own.ReceiptID, own.Contradicts = commands.ContradictionID(c.ReceiptID, c.OrgID), c.ReceiptID
	done, err = w.state(ctx, cause, of.ID, own)
	return done.Position, err
}

// state records what a statement says about a receipt.
func (w *Workers) state(
	ctx context.Context, cause jobs.Cause, of id.Reconciliation, c commands.RecordReceipt,
) (bus.Result, error) {
	meta := cause.Meta(c.CommandName())
	// The receipt may be another organization's. Who asked for this is in the reconciliation.
	meta.OrgID, meta.Actor = id.Organization{}, platformActor
	meta.CommandID = id.Derive[id.Command]("statement", of.String(), c.ReceiptID.String())
	return w.execute(ctx, c, meta)
}

// reconciliationFailed ends a reconciliation whose statement cannot be read any more; any other failure is tried again.
func (w *Workers) reconciliationFailed(
	ctx context.Context, cause jobs.Cause, of id.Reconciliation, why error,
) error {
	if failure.CodeOf(why) != "statement_gone" && failure.KindOf(why) != failure.Invalid {
		return why
	}
	_, err := w.report(ctx, cause, commands.FailReconciliation{ReconciliationID: of, Code: failure.CodeOf(why)})
	return passed(err)
}

// ComparisonLost fails a reconciliation whose job ended without a report.
func (w *Workers) ComparisonLost(
	ctx context.Context, args commands.CompareStatement, cause jobs.Cause, code string,
) error {
	return w.lostReconciliation(ctx, cause, args.ReconciliationID, code)
}

// AdoptionLost fails a reconciliation whose job ended without a report. What was taken in stays, and another adoption
// takes the rest.
func (w *Workers) AdoptionLost(
	ctx context.Context, args commands.AdoptStatement, cause jobs.Cause, code string,
) error {
	return w.lostReconciliation(ctx, cause, args.ReconciliationID, code)
}

// lostReconciliation reports the end of a job.
func (w *Workers) lostReconciliation(ctx context.Context, cause jobs.Cause, of id.Reconciliation, code string) error {
	if code == "" {
		code = "internal"
	}
	_, err := w.report(ctx, cause, commands.FailReconciliation{ReconciliationID: of, Code: code})
	return passed(err)
}
