package cpejobs

import (
	"context"
	"fmt"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/null"
	"github.com/lastmile-isp/lastmile/internal/postgres"
	"github.com/lastmile-isp/lastmile/internal/searchterm"
	"github.com/lastmile-isp/lastmile/projections/cpe"
)

// Bounds of the list of CPEs that wait to be claimed. Whoever reaches the CPE server can invent devices. An invented
// one has to go on calling, or makes room for others.
const (
	pendingFor       = 14 * 24 * time.Hour // after the last call
	pendingMost      = 2000
	pendingPerSource = 200
	pendingKept      = time.Hour // after the last call, also when there is no room for others
)

// Statements about callers.
const (
	callersLockSQL = `lock table {schema}.callers in share row exclusive mode`
	callersDropSQL = `delete from {schema}.callers where not taken and at < $1`
	callersSumSQL  = `
select exists (select from {schema}.callers where cpe_id = $1), count(*), count(*) filter (where source = $2)
from {schema}.callers where not taken`
	callersRoomSQL = `
delete from {schema}.callers where cpe_id = (
	select cpe_id from {schema}.callers where not taken and at < $1 and ($2 = '' or source = $2) order by at limit 1
)`
	callerSQL = `
insert into {schema}.callers as c (cpe_id, serial_number, oui, product_class, source, refused, first_seen, at)
values (@cpe, @serial, @oui, @class, @source, @refused, @at, @at)
on conflict (cpe_id) do update set source = case when excluded.source = '' then c.source else excluded.source end,
	refused = excluded.refused, at = excluded.at`
	callerGoneSQL = `delete from {schema}.callers where cpe_id = $1 and not taken`
	pendingSQL    = `
select cpe_id, serial_number, oui, product_class, refused, first_seen, at
from {schema}.callers where not taken and at >= @since
	and (@serial = '' or upper(serial_number) collate "C" >= @serial and upper(serial_number) collate "C" < @serial_to)
	and (@at::timestamptz is null or (first_seen, cpe_id) < (@at::timestamptz, @id::uuid))
order by first_seen desc, cpe_id desc limit @max`
)

// sourceOf is the network of an address, by which callers are counted; "" for none.
func sourceOf(at netip.Addr) string {
	bits := 24
	if at.Is6() {
		bits = 48
	}
	network, err := at.Prefix(bits)
	if err != nil {
		return ""
	}
	return network.String()
}

// Admit notes that a CPE which nobody has is calling, or that one calls which cannot be claimed for a reason. False:
// there is no room for it. Counting and noting are one step, so that many at once are no more.
func (i *Informs) Admit(ctx context.Context, of commands.CpeCaller, refused string) (admitted bool, _ error) {
	now, source := i.clock.Now(), sourceOf(of.Address)
	err := postgres.Transaction(ctx, i.db.Owner, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, i.sql(callersLockSQL)); err != nil {
			return fmt.Errorf("lock callers: %w", err)
		}
		if _, err := tx.Exec(ctx, i.sql(callersDropSQL), now.Add(-pendingFor)); err != nil {
			return fmt.Errorf("drop callers: %w", err)
		}
		var here bool
		var all, ofSource int
		if err := tx.QueryRow(ctx, i.sql(callersSumSQL), of.CpeID, source).Scan(&here, &all, &ofSource); err != nil {
			return fmt.Errorf("count callers: %w", err)
		}
		crowd := "" // the source that has to make room; "" = any
		if source != "" && ofSource >= pendingPerSource {
			crowd = source
		}
		if admitted = here || crowd == "" && all < pendingMost; !admitted {
			done, err := tx.Exec(ctx, i.sql(callersRoomSQL), now.Add(-pendingKept), crowd)
			if err != nil {
				return fmt.Errorf("make room for a caller: %w", err)
			}
			if admitted = done.RowsAffected() > 0; !admitted {
				return nil
			}
		}
		if _, err := tx.Exec(ctx, i.sql(callerSQL), pgx.NamedArgs{
			"cpe": of.CpeID, "serial": of.Identity.SerialNumber, "oui": of.Identity.OUI,
			"class": of.Identity.ProductClass, "source": source, "refused": refused, "at": now,
		}); err != nil {
			return fmt.Errorf("note a caller: %w", err)
		}
		return nil
	})
	return admitted, err
}

// RemovePending takes a CPE off the list of those that wait, until it says again who it is. False: it is not on it.
func (i *Informs) RemovePending(ctx context.Context, cpe id.CPE) (bool, error) {
	done, err := i.db.Owner.Exec(ctx, i.sql(callerGoneSQL), cpe)
	if err != nil {
		return false, fmt.Errorf("remove a caller: %w", err)
	}
	return done.RowsAffected() > 0, nil
}

// Pending returns up to max CPEs that wait to be claimed after a key, those that called last for the first time first;
// serial is the beginning of a serial number in capitals, "" = any.
func (i *Informs) Pending(
	ctx context.Context, serial string, after cpeviews.CPEKey, max int,
) ([]cpeviews.PendingRow, error) {
	rows, err := i.db.Owner.Query(ctx, i.sql(pendingSQL), pgx.NamedArgs{
		"since": i.clock.Now().Add(-pendingFor), "serial": serial, "serial_to": searchterm.End(serial),
		"at": null.Time(after.At), "id": after.ID, "max": max,
	})
	if err != nil {
		return nil, fmt.Errorf("list callers: %w", err)
	}
	list, err := pgx.CollectRows(rows, pgx.RowToStructByName[cpeviews.PendingRow])
	if err != nil {
		return nil, fmt.Errorf("list callers: %w", err)
	}
	return list, nil
}
