package cpejobs

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/gateways/genieacs"
	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/failure"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/jobs"
	"github.com/lastmile-isp/lastmile/jobs/runner"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Faults reads from the CPE server which faults its devices have, and has those of the last reading. Every field but
// Gateway is required. Safe for concurrent use.
type Faults struct {
	Gateway *genieacs.Server // nil = there is no CPE server: then it must not be registered
	Informs *Informs         // which have the tables
	// Rows reads some CPEs, whoever has them; one that is not known is left out.
	Rows   func(ctx context.Context, cpes []id.CPE) ([]cpeviews.CPERow, error)
	Pauses Pauses
	Clock  clock.Clock
	Logger *slog.Logger
	Every  time.Duration
}

// Sizes and times of the readings. A fault that is gone is remembered for a day, so that whoever clears it then is told
// that it is.
const (
	faultsTimeout = 10 * time.Minute
	faultsPage    = 200
	faultsKept    = 24 * time.Hour
)

// Register makes the queue know the worker, and when it works: one program at a time. A reading that fails is not
// repeated, because the next one sees the same.
func (f Faults) Register(queue *jobrunner.Runner) {
	jobrunner.AddWorker(queue, f.Poll, jobrunner.Options{Timeout: faultsTimeout, MaxAttempts: 1})
	jobrunner.Every(queue, f.Every, commands.PollCpeFaults{})
}

// Statements of the table. A fault that comes back after it was gone, and one that has become that of another
// organization, is a new one.
const (
	faultSQL = `
insert into {schema}.faults as f (fault_id, server_id, cpe_id, org_id, serial_number, channel, code, message,
	parameters, retries, first_seen, last_seen, reading)
select fault_id, server_id, cpe_id, org_id, serial_number, channel, code, message, parameters::jsonb, retries, @at, @at,
	@reading from unnest(@ids::uuid[], @servers::text[], @cpes::uuid[], @orgs::uuid[], @serials::text[],
	@channels::text[], @codes::text[], @messages::text[], @parameters::text[], @retries::int[])
	as n (fault_id, server_id, cpe_id, org_id, serial_number, channel, code, message, parameters, retries)
on conflict (fault_id) do update set org_id = excluded.org_id, code = excluded.code, message = excluded.message,
	parameters = excluded.parameters, retries = excluded.retries, last_seen = excluded.last_seen,
	reading = excluded.reading, gone_at = null, first_seen = case
		when f.gone_at is not null or f.org_id is distinct from excluded.org_id then excluded.first_seen
		else f.first_seen end
returning fault_id, (first_seen = last_seen) as fresh`
	faultsGoneSQL  = `update {schema}.faults set gone_at = $2 where reading <> $1 and gone_at is null`
	faultsDropSQL  = `delete from {schema}.faults where gone_at < $1`
	faultGoneSQL   = `update {schema}.faults set gone_at = $2 where fault_id = $1 and gone_at is null`
	faultSelectSQL = `select fault_id, server_id, cpe_id, serial_number, channel, code, message, parameters, retries,
	first_seen, last_seen, gone_at from {schema}.faults where org_id = @org `
	faultsListSQL = faultSelectSQL + `and gone_at is null and (@cpe::uuid is null or cpe_id = @cpe::uuid)
	and (@at::timestamptz is null or (first_seen, fault_id) < (@at::timestamptz, @id::uuid))
	order by first_seen desc, fault_id desc limit @max`
)

// Poll reads all faults, page by page. What a whole reading did not find is gone. Afterwards those pauses end that hold
// back what they should not.
func (f Faults) Poll(ctx context.Context, _ commands.PollCpeFaults, cause jobs.Cause) error {
	page := make([]genieacs.Fault, 0, faultsPage)
	var found mending
	flush := func() error {
		taken := page
		page = page[:0]
		return f.keep(ctx, cause.JobID, taken, &found)
	}
	err := f.Gateway.EachFault(ctx, func(fault genieacs.Fault) error {
		if page = append(page, fault); len(page) < faultsPage {
			return nil
		}
		return flush()
	})
	if err == nil {
		err = flush()
	}
	if err != nil {
		return fmt.Errorf("read faults: %w", err)
	}
	now := f.Clock.Now()
	if _, err := f.Informs.db.Owner.Exec(ctx, f.Informs.sql(faultsGoneSQL), cause.JobID, now); err != nil {
		return fmt.Errorf("end faults: %w", err)
	}
	if _, err := f.Informs.db.Owner.Exec(ctx, f.Informs.sql(faultsDropSQL), now.Add(-faultsKept)); err != nil {
		return fmt.Errorf("drop faults: %w", err)
	}
	return f.Pauses.mend(ctx, found, cause)
}

// known is a fault of a CPE that is known.
type known struct {
	fault genieacs.Fault
	cpe   cpeviews.CPERow
}

// shownTo is the organization of the CPE, unless the fault is older than its claim.
func (k known) shownTo() id.Organization {
	if k.cpe.ClaimedAt == nil || k.fault.Happened().Before(*k.cpe.ClaimedAt) {
		return id.Organization{}
	}
	return k.cpe.OrgID
}

// keep stores a page of faults, and logs those that are new. It notes what is to be mended.
func (f Faults) keep(ctx context.Context, reading id.Any, page []genieacs.Fault, found *mending) error {
	of := map[id.CPE][]genieacs.Fault{}
	for _, fault := range page {
		oui, class, serial, err := fault.Device.Split()
		if err != nil {
			continue
		}
		cpe := commands.CpeID(commands.NormalCpeIdentity(events.CpeIdentity{
			SerialNumber: serial, OUI: oui, ProductClass: class,
		}))
		of[cpe] = append(of[cpe], fault)
	}
	if len(of) == 0 {
		return nil
	}
	cpes := make([]id.CPE, 0, len(of))
	for cpe := range of {
		cpes = append(cpes, cpe)
	}
	rows, err := f.Rows(ctx, cpes)
	if err != nil {
		return err
	}
	list := map[id.CPEFault]known{}
	for _, row := range rows {
		for _, fault := range of[row.ID] {
			one := known{fault, row}
			list[id.Derive[id.CPEFault]("cpe fault", fault.ID)] = one
			found.note(one)
		}
	}
	if len(list) == 0 {
		return nil
	}
	return f.store(ctx, reading, list)
}

// store writes faults, and logs those that are new: without the words of devices.
func (f Faults) store(ctx context.Context, reading id.Any, list map[id.CPEFault]known) error {
	args, err := columns(list)
	if err != nil {
		return err
	}
	args["at"], args["reading"] = f.Clock.Now(), reading
	rows, err := f.Informs.db.Owner.Query(ctx, f.Informs.sql(faultSQL), args)
	if err != nil {
		return fmt.Errorf("write faults: %w", err)
	}
	var fault id.CPEFault
	var fresh bool
	_, err = pgx.ForEachRow(rows, []any{&fault, &fresh}, func() error {
		if one := list[fault]; fresh {
			f.Logger.LogAttrs(ctx, slog.LevelWarn, "fault of a cpe", slog.String("cpe_id", one.cpe.ID.String()),
				slog.String("serial_number", one.cpe.SerialNumber), slog.String("org_id", one.cpe.OrgID.String()),
				slog.String("channel", one.fault.Channel), slog.String("code", one.fault.Code),
				slog.String("parameters", refusedNames(one.fault)))
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("write faults: %w", err)
	}
	return nil
}

// refusedNames has the names of the parameters that a device refused, and the values that the platform writes to all.
func refusedNames(f genieacs.Fault) string {
	var names []string
	for _, p := range f.Parameters {
		if p.Value != "" {
			p.Name += "=" + p.Value
		}
		names = append(names, p.Name)
	}
	return strings.Join(names, " ")
}

// columns gives the arguments of faultSQL.
func columns(list map[id.CPEFault]known) (pgx.NamedArgs, error) {
	var ids []id.CPEFault
	var cpes []id.CPE
	var orgs []id.Organization
	var servers, serials, channels, codes, messages, parameters []string
	var retries []int
	for fault, one := range list {
		settings := []cpeviews.FaultySetting{}
		for _, p := range one.fault.Parameters {
			settings = append(settings, cpeviews.FaultySetting(p))
		}
		text, err := json.Marshal(settings)
		if err != nil {
			return nil, fmt.Errorf("write parameters of a fault: %w", err)
		}
		ids, cpes, orgs = append(ids, fault), append(cpes, one.cpe.ID), append(orgs, one.shownTo())
		servers, serials = append(servers, one.fault.ID), append(serials, one.cpe.SerialNumber)
		channels, codes = append(channels, one.fault.Channel), append(codes, one.fault.Code)
		messages, parameters = append(messages, one.fault.Message), append(parameters, string(text))
		retries = append(retries, one.fault.Retries)
	}
	return pgx.NamedArgs{
		"ids": ids, "servers": servers, "cpes": cpes, "orgs": orgs, "serials": serials, "channels": channels,
		"codes": codes, "messages": messages, "parameters": parameters, "retries": retries,
	}, nil
}

// List returns up to max faults of an organization, or of one of its CPEs, after a key: those that were seen last for
// the first time first.
func (f Faults) List(
	ctx context.Context, org id.Organization, cpe id.CPE, after cpeviews.FaultKey, max int,
) ([]cpeviews.FaultRow, error) {
	return f.read(ctx, faultsListSQL, pgx.NamedArgs{
		"org": org, "cpe": cpe, "at": null.Time(after.At), "id": after.ID, "max": max,
	})
}

// Get returns a fault of an organization, also one that is gone for less than a day; nil when it has none with this id.
func (f Faults) Get(
	ctx context.Context, org id.Organization, fault id.CPEFault,
) (*cpeviews.FaultRow, error) {
	rows, err := f.read(ctx, faultSelectSQL+`and fault_id = @id`, pgx.NamedArgs{"org": org, "id": fault})
	if err != nil || len(rows) == 0 {
		return nil, err
	}
	return &rows[0], nil
}

// read runs a query of the rows.
func (f Faults) read(ctx context.Context, sql string, args pgx.NamedArgs) ([]cpeviews.FaultRow, error) {
	rows, err := f.Informs.db.Owner.Query(ctx, f.Informs.sql(sql), args)
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[cpeviews.FaultRow])
	if err != nil {
		return nil, fmt.Errorf("read faults: %w", err)
	}
	return list, nil
}

// Clear has the CPE server forget a fault, and does not show it any more; one that is gone there is no failure. Fails:
// cpe_server_not_set_up, cpe_server_unavailable, cpe_in_session.
func (f Faults) Clear(ctx context.Context, row cpeviews.FaultRow) error {
	if f.Gateway == nil {
		return errNoServer()
	}
	err := f.Gateway.ClearFault(ctx, row.ServerID)
	switch {
	case errors.Is(err, genieacs.ErrInSession):
		return failure.NewUnavailable("cpe_in_session",
			"The device is talking to its server at this moment. Try again in a moment.", 0, err)
	case err != nil:
		return err
	}
	if _, err := f.Informs.db.Owner.Exec(ctx, f.Informs.sql(faultGoneSQL), row.ID, f.Clock.Now()); err != nil {
		return fmt.Errorf("end fault %s: %w", row.ID, err)
	}
	return nil
}
