package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/jobs/payments"
	"github.com/lastmile-isp/lastmile/processmanagers/runner"
	"github.com/lastmile-isp/lastmile/projections/billing"
)

// scrapeLimit bounds the database queries of one scrape of the metrics.
const scrapeLimit = 2 * time.Second

// Metrics that should wake an operator, in addition to those of httpapi/metrics.go. Their values are read at each
// scrape.
var (
	writableDesc = prometheus.NewDesc("lastmile_database_writable",
		"1 when the database took the last write of the watch, 0 when it refuses writes or is silent.", nil, nil)
	processStoppedDesc = prometheus.NewDesc("lastmile_process_stopped",
		"1 when a process met an input that it cannot take.", []string{"process"}, nil)
	processLagDesc = prometheus.NewDesc("lastmile_process_lag", "Log positions that a process has not taken yet.",
		[]string{"process"}, nil)
	processRetryDesc = prometheus.NewDesc("lastmile_process_retrying",
		"Instances of a process whose command is being tried again.", []string{"process"}, nil)
	instanceStoppedDesc = prometheus.NewDesc("lastmile_process_instances_stopped",
		"Instances of a process that met an input that they cannot take.", []string{"process"}, nil)
	commandStoppedDesc = prometheus.NewDesc("lastmile_process_commands_stopped",
		"Commands of a process that have used up their attempts.", []string{"process"}, nil)
	commandWaitingDesc = prometheus.NewDesc("lastmile_process_commands_waiting",
		"Commands of a process that are not executed yet.", []string{"process"}, nil)
	cutsWaitingDesc = prometheus.NewDesc("lastmile_cuts_waiting_seconds",
		"For how long nobody has been cut, because money may not be counted; 0 = cuts go on.", nil, nil)
	heldDesc = prometheus.NewDesc("lastmile_held",
		"Billing runs that are held, and organizations whose cuts or messages are, until a person releases them.",
		[]string{"kind"}, nil)
	taxDocumentsDesc = prometheus.NewDesc("lastmile_tax_documents",
		"Documents that the tax authority has not signed; refused ones wait for a person.", []string{"state"}, nil)
	taxWaitingDesc = prometheus.NewDesc("lastmile_tax_waiting_seconds",
		"For how long the oldest document has waited for its signature by the tax authority; 0 = none waits.", nil, nil)
	jobsDesc = prometheus.NewDesc("lastmile_jobs",
		"Outside calls by state; discarded ones have used up their attempts.", []string{"state"}, nil)
	callbacksDesc = prometheus.NewDesc("lastmile_callbacks_waiting",
		"Callbacks of the provider that were accepted and are not handled yet.", nil, nil)
	callbacksGivenUpDesc = prometheus.NewDesc("lastmile_callbacks_given_up",
		"Callbacks from the provider that led to nothing, although they may speak of money.", nil, nil)
	spoolDesc = prometheus.NewDesc("lastmile_accounting_spool_bytes",
		"Reports of routers about sessions that wait on the disk for the database.", nil, nil)
	spoolDiskDesc = prometheus.NewDesc("lastmile_accounting_spool_disk_bytes",
		"What the files of these reports have of the disk.", nil, nil)
	behindDesc = prometheus.NewDesc("lastmile_accounting_behind_seconds",
		"For how long the oldest report on the disk has waited for the database.", nil, nil)
	reportsRefusedDesc = prometheus.NewDesc("lastmile_accounting_refused_total",
		"Reports of routers about sessions that were not made durable, so that the routers repeat them.",
		[]string{"cause"}, nil)
	sessionsReplacedDesc = prometheus.NewDesc("lastmile_sessions_replaced_total",
		"Sessions that had to end because their subscription began newer ones.", nil, nil)
	directoryAgeDesc = prometheus.NewDesc("lastmile_access_directory_age_seconds",
		"Time since what answers sign-ins was known to have everything that is in the log.", nil, nil)
	incompleteDesc = prometheus.NewDesc("lastmile_access_organizations_incomplete",
		"Organizations whose sign-ins get no answer, because an event of theirs cannot be read.", nil, nil)
	reportsDroppedDesc = prometheus.NewDesc("lastmile_accounting_dropped_total",
		"Reports of routers about sessions that the database refused for themselves.", nil, nil)
	reportsCrowdedDesc = prometheus.NewDesc("lastmile_accounting_crowded_total",
		"Reports of new sessions that are not kept, because there are as many as may be.", nil, nil)
	reportsOddDesc = prometheus.NewDesc("lastmile_accounting_odd_total",
		"Reports of sessions with a counter that is lower than before without a reason, and was not counted.", nil, nil)
	scavengedDesc = prometheus.NewDesc("lastmile_eventstore_scavenged_total",
		"Events that the node removed from the log because nobody could see them, and bytes of them.",
		[]string{"what"}, nil)
	foreignDesc = prometheus.NewDesc("lastmile_eventstore_foreign_events_total",
		"Events of other applications in the event store that this program has passed over.", nil, nil)
	sessionsThinnedDesc = prometheus.NewDesc("lastmile_accounting_thinned_total",
		"Sessions that were deleted, because many of their subscription began in a day.", nil, nil)
)

// alarms collects these metrics. One that cannot be read is left out: a 0 would look like health.
type alarms struct{ app *App }

// Describe implements prometheus.Collector.
func (alarms) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		writableDesc, processStoppedDesc, processLagDesc, processRetryDesc, instanceStoppedDesc, commandStoppedDesc,
		commandWaitingDesc, jobsDesc, callbacksDesc, callbacksGivenUpDesc, spoolDesc, spoolDiskDesc,
		reportsDroppedDesc, sessionsReplacedDesc, behindDesc, reportsRefusedDesc, reportsCrowdedDesc,
		sessionsThinnedDesc, directoryAgeDesc, incompleteDesc, cutsWaitingDesc, heldDesc,
		taxDocumentsDesc, taxWaitingDesc, scavengedDesc, foreignDesc, reportsOddDesc,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector; Prometheus may call it for several scrapes at once.
func (m alarms) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), scrapeLimit)
	defer cancel()
	show := func(d *prometheus.Desc, value float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
	}
	writable := 0.0
	if m.app.storage.writes.State() == postgres.WritesTaken {
		writable = 1
	}
	show(writableDesc, writable)
	m.scavenged(to)
	to <- prometheus.MustNewConstMetric(foreignDesc, prometheus.CounterValue,
		float64(m.app.storage.store.ForeignEvents()))
	if m.app.radius != nil {
		status := m.app.radius.recorder.Status()
		show(directoryAgeDesc, m.app.radius.fresh.Age().Seconds())
		show(incompleteDesc, float64(len(m.app.radius.shows.Left())))
		show(spoolDesc, float64(status.SpoolBytes))
		show(spoolDiskDesc, float64(status.SpoolDisk))
		show(behindDesc, status.Behind.Seconds())
		for cause, n := range map[string]uint64{
			"waiting": status.Refused.Waiting, "spool": status.Refused.Spool, "disk": status.Refused.Disk,
		} {
			to <- prometheus.MustNewConstMetric(reportsRefusedDesc, prometheus.CounterValue, float64(n), cause)
		}
		to <- prometheus.MustNewConstMetric(reportsDroppedDesc, prometheus.CounterValue, float64(status.Dropped))
		to <- prometheus.MustNewConstMetric(reportsCrowdedDesc, prometheus.CounterValue, float64(status.Crowded))
		to <- prometheus.MustNewConstMetric(reportsOddDesc, prometheus.CounterValue, float64(status.Odd))
		to <- prometheus.MustNewConstMetric(sessionsThinnedDesc, prometheus.CounterValue, float64(status.Thinned))
		to <- prometheus.MustNewConstMetric(sessionsReplacedDesc, prometheus.CounterValue,
			float64(m.app.radius.live.Ended()))
	}
	if absence := m.app.engines.absence.Load(); absence != nil {
		show(cutsWaitingDesc, absence.Waiting().Seconds())
	}
	if m.app.roles.has(roleProcesses) {
		for _, s := range m.app.engines.processes.Status() {
			stopped := 0.0
			if s.State == processrunner.StateStopped {
				stopped = 1
			}
			show(processStoppedDesc, stopped, s.Name)
			show(processLagDesc, float64(s.Head-s.Position), s.Name)
			show(processRetryDesc, float64(s.Retrying), s.Name)
		}
	}
	for _, look := range []func(context.Context, func(*prometheus.Desc, float64, ...string)) error{
		m.processes, m.jobs, m.callbacks, m.held, m.tax,
	} {
		if err := look(ctx, show); err != nil {
			m.app.logger.WarnContext(ctx, "metrics cannot be read", slog.String("error", err.Error()))
		}
	}
}

// scavenged shows what the node in this program has removed from the log.
func (m alarms) scavenged(to chan<- prometheus.Metric) {
	if m.app.storage.node == nil {
		return
	}
	gone := m.app.storage.node.Scavenged()
	for what, n := range map[string]int64{"events": gone.Events, "bytes": gone.Bytes} {
		to <- prometheus.MustNewConstMetric(scavengedDesc, prometheus.CounterValue, float64(n), what)
	}
}

// processes shows what has stopped and what waits, for each process. Every program shows it, whoever drives them.
func (m alarms) processes(ctx context.Context, show func(*prometheus.Desc, float64, ...string)) error {
	if !m.app.roles.has(roleProcesses) {
		return nil
	}
	counts, err := m.app.engines.processes.Counts(ctx)
	for _, c := range counts {
		show(instanceStoppedDesc, float64(c.Instances), c.Process)
		show(commandStoppedDesc, float64(c.Commands), c.Process)
		show(commandWaitingDesc, float64(c.Waiting), c.Process)
	}
	return err
}

// held shows what waits for a person because far more of it happened than usual.
func (m alarms) held(ctx context.Context, show func(*prometheus.Desc, float64, ...string)) error {
	counts, err := billingviews.FusesQuery{Views: m.app.engines.views}.HeldNow(ctx)
	if err != nil {
		return err
	}
	for kind, n := range counts {
		show(heldDesc, float64(n), kind)
	}
	return nil
}

// tax shows which documents the tax authority has not signed, and for how long the oldest has waited.
func (m alarms) tax(ctx context.Context, show func(*prometheus.Desc, float64, ...string)) error {
	open, err := billingviews.SignaturesQuery{Views: m.app.engines.views}.Open(ctx)
	if err != nil {
		return err
	}
	show(taxDocumentsDesc, float64(open.Queued), "queued")
	show(taxDocumentsDesc, float64(open.Refused), "refused")
	waited := 0.0
	if open.Oldest != nil {
		waited = max(0, m.app.clock.Now().Sub(*open.Oldest).Seconds())
	}
	show(taxWaitingDesc, waited)
	return nil
}

// jobs shows the number of outside calls by state; those that are completed are left out.
func (m alarms) jobs(ctx context.Context, show func(*prometheus.Desc, float64, ...string)) error {
	db := m.app.storage.db
	rows, err := db.Owner.Query(ctx,
		`select s.state::text, count(j.id) from unnest(enum_range(null::`+db.Namespace.Schema("river")+
			`.river_job_state)) s(state)
		left join `+db.Namespace.Schema("river")+
			`.river_job j on j.state = s.state where s.state <> 'completed' group by 1 order by 1`)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var state string
		var count int64
		if err := rows.Scan(&state, &count); err != nil {
			return err
		}
		show(jobsDesc, float64(count), state)
	}
	return rows.Err()
}

// callbacks shows how many callbacks are not processed yet, in the inbox, without those that wait for their prompt to
// become known, and on the disk; and how many were given up in the end. Without the database it knows of the disk
// alone.
func (m alarms) callbacks(ctx context.Context, show func(*prometheus.Desc, float64, ...string)) error {
	kept := 0
	if m.app.kept != nil {
		kept = m.app.kept.Len()
	}
	waiting, givenUp, err := m.app.storage.vault.Inbox.Count(ctx, paymentsjobs.CauseUnknownPrompt)
	if err == nil || kept > 0 {
		show(callbacksDesc, float64(waiting)+float64(kept))
	}
	if err == nil {
		show(callbacksGivenUpDesc, float64(givenUp))
	}
	return err
}
