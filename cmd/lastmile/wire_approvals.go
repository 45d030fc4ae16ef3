package main

import (
	"context"
	"time"

	"github.com/lastmile-isp/lastmile/aggregates/billing"
	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/billing"
	"github.com/lastmile-isp/lastmile/httpapi/identity"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/processmanagers"
	"github.com/lastmile-isp/lastmile/processmanagers/billing/approvals"
	"github.com/lastmile-isp/lastmile/projections/billing"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/runner"
	"github.com/lastmile-isp/lastmile/usecases"
	"github.com/lastmile-isp/lastmile/usecases/billing"
	"github.com/lastmile-isp/lastmile/usecases/identity"
	"github.com/lastmile-isp/lastmile/usecases/outages"
	"github.com/lastmile-isp/lastmile/usecases/payments"
)

// approvalsArea gives what needs a second person, and the report of what was given away.
func approvalsArea() area {
	return area{
		aggregates: registerApprovals,
		readModels: []runner.Projection{billingviews.Approvals{}, billingviews.Corrections{}},
		processes:  []processmanagers.Any{approvals.Process()},
		wire:       (*App).wireApprovals,
	}
}

// registerApprovals adds allowances and approvals.
func registerApprovals(b *bus.Bus) {
	bus.Register(b, billing.Allowances())
	bus.Register(b, billing.Approvals())
}

// approvalAttempts lets an approved act be tried for weeks, because its process asks for it only once. Then it begins
// anew.
const approvalAttempts = 30_000

// wireApprovals registers the job that does what was approved, and makes the endpoints.
func (a *App) wireApprovals(context.Context) ([][]httpapi.Route, error) {
	e := a.engines
	limits := identitycases.ApprovalLimits{Bus: e.bus}
	receipts := paymentscases.Receipts{Bus: e.bus, Views: e.views, Clock: a.clock}
	invoices := billingcases.Invoices{Bus: e.bus, Clock: a.clock}
	compensations := outagescases.Compensations{
		Bus: e.bus, Places: a.outageCases().Places, Clock: a.clock, Logger: a.logger,
	}
	cases := usecases.Approvals{
		Bus: e.bus, Acts: map[string]func(context.Context, usecases.Asked, usecases.Granted) error{
			events.ActRefund:        paymentscases.Refunds{Bus: e.bus, Views: e.views}.Granted,
			events.ActReversal:      receipts.GrantedReversal,
			events.ActReattribution: receipts.GrantedReattribution,
			events.ActWriteOff:      billingcases.WriteOffs{Bus: e.bus}.Granted,
			events.ActCreditNote:    billingcases.CreditNotes{Bus: e.bus}.Granted,
			events.ActVoid:          invoices.GrantedVoid,
			events.ActReissue:       invoices.GrantedReissue,
			events.ActCompensation:  compensations.Granted,
			events.ActImport:        a.imports().Granted,
			events.ActLimit:         limits.Granted,
		},
	}
	jobrunner.AddWorker(e.jobs, func(ctx context.Context, job commands.CarryOutApproval, cause jobs.Cause) error {
		cause.OrgID = job.OrgID
		return cases.CarryOut(ctx, job, cause.Meta(commands.FinishApproval{}.CommandName()))
	}, jobrunner.Options{MaxAttempts: approvalAttempts, Backoff: jobrunner.Doubling(time.Second, time.Minute)})
	jobrunner.OnDiscarded(e.jobs, jobrunner.OnceMore[commands.CarryOutApproval](e.jobs, time.Minute))
	users := identityviews.UsersQuery{Views: e.views}
	return [][]httpapi.Route{
		billingapi.Approvals{
			Bus: e.bus, Approvals: billingviews.ApprovalsQuery{Views: e.views}, Users: users,
		}.Routes(),
		billingapi.Corrections{Cases: billingcases.Corrections{
			Settings: a.engines.settings, Corrections: billingviews.CorrectionsQuery{Views: e.views}, Users: users,
			Clock: a.clock,
		}}.Routes(),
		identityapi.ApprovalLimits{Cases: limits}.Routes(),
	}, nil
}
