package paymentscases

import (
	"context"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/lastmile-isp/lastmile/aggregates/payments"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/column"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/vault"
	"github.com/lastmile-isp/lastmile/usecases"
)

// Reconciliations compares the provider's statements with the receipts (docs/rules/money.md#reconciliation). Safe for
// concurrent use.
type Reconciliations struct {
	Bus        *bus.Bus
	Statements *vault.Statements
	Platform   PlatformGateway
	// Key makes the id of a reconciliation of the statement, under a key: the file names payers. The pieces together
	// are the value.
	Key     func(kind string, pieces ...[]byte) uuid.UUID
	Limiter vault.Limiter
	Clock   clock.Clock
	// Read checks a statement of an organization and gives its bounds. order is the order of day and month that the
	// sender chose. Fails: invalid_input, date_order_needed, parsing_busy.
	Read func(
		ctx context.Context, org id.Organization, file []byte, order column.DateOrder,
	) (StatementBounds, error)
}

// StatementBounds say what a statement is about.
type StatementBounds struct {
	Shortcode   string // "" when it does not name one
	Lines       int
	First, Last time.Time
}

// statementsPerDay bounds the statements of one organization: each is kept for weeks, in the database of all.
const statementsPerDay = 20

// Start takes a statement of the organization's own shortcode, or of the platform's at the root host. The file is kept
// before the comparison begins. The same file is the same reconciliation and is kept once; it is compared again when
// the comparison before has ended. order says whether the day or the month comes first in its dates, where no row
// does. Fails: invalid_input, date_order_needed, no_own_shortcode, statement_of_another_shortcode, rate_limited,
// parsing_busy.
func (r Reconciliations) Start(
	ctx context.Context, asked usecases.Asked, file []byte, order column.DateOrder,
) (id.Reconciliation, bus.Result, error) {
	var which id.Reconciliation
	command := commands.StartReconciliation{
		OrgID: asked.Org(), Environment: r.Platform.Environment, Shortcode: r.Platform.Shortcode,
	}
	if !asked.Org().IsZero() {
		g, _, err := bus.LoadUnchecked[payments.Gateway](ctx, r.Bus, asked.Org())
		switch {
		case err != nil:
			return which, bus.Result{}, err
		case !g.Direct || !g.Proven:
			return which, bus.Result{}, noOwnShortcode()
		}
		command.Environment, command.Shortcode = g.Environment, g.Shortcode
	}
	bounds, err := r.Read(ctx, asked.Org(), file, order)
	switch {
	case err != nil:
		return which, bus.Result{}, err
	case command.Shortcode == "":
		return which, bus.Result{}, noOwnShortcode()
	case bounds.Shortcode != "" && bounds.Shortcode != command.Shortcode:
		return which, bus.Result{}, failure.NewConflict("statement_of_another_shortcode",
			"This is the statement of another shortcode than the one that money is taken on here.")
	case bounds.Last.After(r.Clock.Now().Add(24 * time.Hour)):
		return which, bus.Result{}, failure.NewInvalid("invalid_input", "file has times in the future")
	}
	if err := r.mayKeep(ctx, asked.Org()); err != nil {
		return which, bus.Result{}, err
	}
	of := strings.Join([]string{command.OrgID.String(), command.Environment, command.Shortcode, ""}, " ")
	which = id.Reconciliation(r.Key("reconciliation", []byte(of), file))
	command.ReconciliationID = which
	command.Lines, command.From, command.To = bounds.Lines, bounds.First, bounds.Last
	command.DateOrder = string(order)
	kept := vault.StatementOf{ID: which, OrgID: command.OrgID, Shortcode: command.Shortcode}
	if err := r.Statements.Put(ctx, kept, file); err != nil {
		return which, bus.Result{}, err
	}
	done, err := r.Bus.Execute(ctx, command, asked.Meta)
	return which, done, err
}

// mayKeep counts a statement of an organization; the platform's are counted as those of one. Fails: rate_limited.
func (r Reconciliations) mayKeep(ctx context.Context, org id.Organization) error {
	ok, wait, err := r.Limiter.Allow(ctx, "reconciliation:"+org.String(), statementsPerDay, 24*time.Hour)
	if err == nil && !ok {
		err = failure.NewLimited("rate_limited", "Too many requests. Please wait.", max(wait, time.Second))
	}
	return err
}

// Adopt takes in what is missing here. While it is under way, and when nothing is missing, a repeat changes nothing.
// Fails: reconciliation_not_found, reconciliation_unfinished, statement_gone.
func (r Reconciliations) Adopt(
	ctx context.Context, asked usecases.Asked, which id.Reconciliation,
) (bus.Result, error) {
	kept, err := r.Statements.Get(ctx, which)
	if err != nil {
		return bus.Result{}, err
	}
	if kept == nil {
		of, _, err := bus.LoadUnchecked[payments.Reconciliation](ctx, r.Bus, which)
		if err == nil && of.State != payments.ReconciliationNone && of.Org == asked.Org() {
			err = commands.ErrStatementGone()
		} else if err == nil {
			err = commands.ErrNoReconciliation()
		}
		return bus.Result{}, err
	}
	return r.Bus.Execute(ctx, commands.AdoptReconciliation{ReconciliationID: which, OrgID: asked.Org()}, asked.Meta)
}

// noOwnShortcode refuses a statement where there is no shortcode that it could be of.
func noOwnShortcode() error {
	return failure.NewConflict("no_own_shortcode",
		"Money is taken on the platform's shortcode, whose statements the platform compares.")
}
