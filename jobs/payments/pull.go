package paymentsjobs

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"
	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/gateways/mobilemoney"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/payments"
)

// Lister is the part of the provider's client that lists payments. [mobilemoney.Client] has it.
type Lister interface {
	RegisterPull(ctx context.Context, creds mobilemoney.Credentials, q mobilemoney.PullRegistration) error
	Pull(ctx context.Context, creds mobilemoney.Credentials, from, to time.Time, offset int) (
		mobilemoney.PulledPage, error)
}

// How payments are asked for. Those of the last pullPatience are left to their callbacks. Each time begins pullOverlap
// before the end of the one before, because the provider lists a payment when it has processed it.
const (
	pullInterval = 30 * time.Minute
	pullPatience = 10 * time.Minute
	pullOverlap  = time.Hour
	pullReserve  = 5 * time.Minute // from the provider's limit, for clocks that differ
	pullRows     = 200_000         // of one question, so that an answer without an end is not read for ever
)

// What of the listing of payments the provider refuses.
const (
	refusedRegistration = "registration"
	refusedList         = "list"
)

// NewPullsRefused makes the counter of what the provider refuses when payments are asked for: as long as it does,
// payments whose callbacks were lost stay missing (docs/rules/payments.md#sweeps).
func NewPullsRefused(to prometheus.Registerer) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "lastmile_pulls_refused_total",
		Help: "Refusals of the provider to list the payments of a shortcode, or to register it for that.",
	}, []string{"what"})
	for _, what := range []string{refusedRegistration, refusedList} {
		c.WithLabelValues(what)
	}
	if to != nil {
		to.MustRegister(c)
	}
	return c
}

// pullRefused counts a refusal.
func (w *Workers) pullRefused(what string) {
	if w.cfg.PullsRefused != nil {
		w.cfg.PullsRefused.WithLabelValues(what).Inc()
	}
}

// registerPull adds the jobs that ask for payments. Either may be repeated: a receipt is recorded once, whoever tells
// of it.
func (w *Workers) registerPull(r *jobrunner.Runner) {
	options := jobrunner.Options{
		Queue: "statements", Timeout: 10 * time.Minute, MaxAttempts: 3,
		Backoff: jobrunner.Doubling(time.Minute, 10*time.Minute),
	}
	jobrunner.AddWorker(r, w.PullPayments, options)
	jobrunner.AddWorker(r, w.PullTill, options)
	if w.cfg.Pulls != nil {
		jobrunner.Every(r, pullInterval, commands.PullPayments{})
	}
}

// PullPayments asks for the payments of the platform's paybill and of each active direct shortcode, each in a job of
// its own: one that fails keeps none of the others waiting (docs/rules/payments.md#sweeps).
func (w *Workers) PullPayments(ctx context.Context, _ commands.PullPayments, _ jobs.Cause) error {
	var faults []error
	if shortcode := w.cfg.Access.Platform.ShortCode; shortcode != "" {
		faults = append(faults, w.again(ctx, commands.PullTill{
			Environment: w.cfg.Access.Environment, Shortcode: shortcode,
		}))
	}
	active, err := w.gateways.Active(ctx)
	faults = append(faults, err)
	for _, g := range active {
		faults = append(faults, w.again(ctx, commands.PullTill{
			OrgID: g.OrgID, Environment: g.Environment, Shortcode: g.Shortcode,
		}))
	}
	return errors.Join(faults...)
}

// PullTill asks for the payments of one shortcode since the last time, 48 hours at most, and records those that nobody
// has told of. What is known already is left alone. A refusal is told in the log and ends the run: the next one
// registers the shortcode anew.
func (w *Workers) PullTill(ctx context.Context, args commands.PullTill, cause jobs.Cause) error {
	to, err := w.speak(ctx, args.OrgID, args.Environment, args.Shortcode)
	switch code := failure.CodeOf(err); {
	case w.cfg.Pulls == nil, code == "initiator_missing", code == "payment_gateway_missing":
		return nil // the shortcode was given up meanwhile
	case err != nil:
		return err
	}
	ref := shortcodeOf(args.OrgID, args.Environment, args.Shortcode).UUID()
	known, err := w.cfg.Pulls.Get(ctx, ref)
	if err != nil {
		return err
	}
	if !known.Registered || known.Nominated != to.answers {
		known.Registered, known.Nominated = w.registeredForPull(ctx, args, to, ref), to.answers
	}
	now := w.cfg.Clock.Now()
	end := now.Add(-pullPatience)
	from := known.AskedUntil
	if from.After(end) { // the clock was put back
		from = end
	}
	from = from.Add(-pullOverlap)
	if first := now.Add(pullReserve - mobilemoney.PullWindow); from.Before(first) {
		from = first
	}
	known.AskedUntil, err = w.pullSpans(ctx, cause, args, to, from, end)
	if failure.KindOf(err) == failure.Refused {
		w.cfg.Logger.WarnContext(ctx, "payments are not listed", "org_id", args.OrgID, "shortcode", args.Shortcode,
			"environment", args.Environment, "error", err)
		known.Registered, err = false, nil
		w.pullRefused(refusedList)
	}
	return errors.Join(err, w.cfg.Pulls.Note(context.WithoutCancel(ctx), ref, known))
}

// pullSpans asks for one span after the other, and gives the end of the last one that was taken whole.
func (w *Workers) pullSpans(
	ctx context.Context, cause jobs.Cause, args commands.PullTill, to reached, from, end time.Time,
) (time.Time, error) {
	for from.Before(end) {
		until := from.Add(mobilemoney.PullSpan)
		if until.After(end) {
			until = end
		}
		if err := w.pullSpan(ctx, cause, args, to, from, until); err != nil {
			return from, err
		}
		from = until
	}
	return from, nil
}

// registeredForPull registers a shortcode for being listed, and reports whether the provider took it. Whatever it says,
// payments are asked for: the owner may have registered the shortcode with the provider in another way.
func (w *Workers) registeredForPull(
	ctx context.Context, args commands.PullTill, to reached, ref uuid.UUID,
) bool {
	number, err := w.nominated(ctx, to.answers)
	var urls mobilemoney.ResultURLs
	if err == nil {
		urls, err = w.cfg.Addresses.OfResult(ctx, TokenPull, ref, args.OrgID, args.Shortcode)
	}
	if err == nil {
		err = to.provider.RegisterPull(ctx, to.creds, mobilemoney.PullRegistration{
			NominatedNumber: number, CallbackURL: urls.Result,
		})
	}
	if err != nil {
		w.cfg.Logger.WarnContext(ctx, "shortcode is not registered for listing", "org_id", args.OrgID,
			"shortcode", args.Shortcode, "environment", args.Environment, "error", err)
		if failure.KindOf(err) == failure.Refused {
			w.pullRefused(refusedRegistration)
		}
	}
	return err == nil
}

// nominated gives the phone that answers for a shortcode, in the provider's form: the organization's own where it has
// named one, else the platform's.
func (w *Workers) nominated(ctx context.Context, ref id.Secret) (string, error) {
	if ref.IsZero() {
		return w.cfg.NominatedNumber, nil
	}
	number, err := w.cfg.Access.Secrets.Get(ctx, ref)
	if err != nil {
		return "", err
	}
	return mobilemoney.NormalizePhone(string(number))
}

// pullSpan records what is missing of the payments of a time.
func (w *Workers) pullSpan(
	ctx context.Context, cause jobs.Cause, args commands.PullTill, to reached, from, until time.Time,
) error {
	seen := map[string]bool{}
	for offset := 0; offset < pullRows; {
		page, err := to.provider.Pull(ctx, to.creds, from, until, offset)
		if err != nil {
			return err
		}
		if page.Strange > 0 {
			w.cfg.Logger.ErrorContext(ctx, "listed payments cannot be read", "org_id", args.OrgID,
				"shortcode", args.Shortcode, "rows", page.Strange)
		}
		fresh := page.Payments[:0]
		for _, p := range page.Payments {
			if !seen[p.ReceiptNumber] {
				seen[p.ReceiptNumber], fresh = true, append(fresh, p)
			}
		}
		if page.Rows == 0 || len(page.Payments) > 0 && len(fresh) == 0 { // some answer every offset alike
			return nil
		}
		if err := w.takePulled(ctx, cause, args, fresh); err != nil {
			return err
		}
		offset += page.Rows
	}
	return nil
}

// takePulled records those of some listed payments that have no receipt of their amount here.
func (w *Workers) takePulled(
	ctx context.Context, cause jobs.Cause, args commands.PullTill, list []mobilemoney.PulledPayment,
) error {
	numbers := make([]string, len(list))
	for i, p := range list {
		numbers[i] = p.ReceiptNumber
	}
	here, err := w.receiptsHere(ctx, paymentsviews.StatedTill{
		OrgID: args.OrgID, Environment: args.Environment, Shortcode: args.Shortcode,
	}, numbers)
	if err != nil {
		return err
	}
	for _, p := range list {
		if r, has := here[p.ReceiptNumber]; has && r.Amount() == p.Amount {
			continue
		}
		w.cfg.Logger.WarnContext(ctx, "payment found that nobody has told of", "org_id", args.OrgID,
			"shortcode", args.Shortcode, "receipt_number", p.ReceiptNumber)
		if err := w.recordPulled(ctx, cause, args, p); err != nil {
			return err
		}
	}
	return nil
}

// recordPulled records one listed payment. The same payment listed again is the same command.
func (w *Workers) recordPulled(
	ctx context.Context, cause jobs.Cause, args commands.PullTill, p mobilemoney.PulledPayment,
) error {
	c := commands.RecordReceipt{
		OrgID: args.OrgID, Provider: commands.ProviderMobileMoney, Environment: args.Environment,
		ReceiptNumber: p.ReceiptNumber, Channel: commands.ChannelPaybill, Shortcode: args.Shortcode, Amount: p.Amount,
		PaidAt: p.PaidAt, PayerPhone: personal.Of(p.MSISDN), PayerName: personal.Of(p.Name),
		BillRef: personal.Of(p.BillRef), Sighting: commands.SightingPull,
	}
	if c.PaidAt.IsZero() {
		c.PaidAt = w.cfg.Clock.Now()
	}
	return w.recordBy(ctx, c, func(c commands.RecordReceipt, parts ...string) error {
		meta := cause.Meta(c.CommandName())
		meta.OrgID, meta.Actor = id.Organization{}, platformActor // the receipt may be another organization's
		named := append([]string{c.ReceiptID.String(), c.Amount.Decimal(), args.Shortcode}, parts...)
		meta.CommandID = id.Derive[id.Command]("pull", named...)
		_, err := w.execute(ctx, c, meta)
		return err
	})
}
