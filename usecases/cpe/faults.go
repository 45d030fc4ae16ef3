package cpecases

import (
	"context"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/commands/bus"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/projections/cpe"
	"github.com/lastmile-isp/lastmile/usecases"
)

// FaultStore has the faults of CPEs as the CPE server noted them. Implementations are safe for concurrent use.
type FaultStore interface {
	// Get returns a fault of an organization, also one that is gone for a short time; nil when it has none.
	Get(ctx context.Context, org id.Organization, fault id.CPEFault) (*cpeviews.FaultRow, error)
	// Clear has the CPE server forget a fault; one that is gone there is no failure.
	Clear(ctx context.Context, row cpeviews.FaultRow) error
}

// Faults clears faults. All fields are required. Safe for concurrent use.
type Faults struct {
	Bus   *bus.Bus
	Store FaultStore
}

// Clear has the CPE server forget a fault of a CPE of the organization, and gives it as it was; one that is gone is no
// failure. Who asked is recorded before the server is. Fails: cpe_fault_not_found, cpe_server_unavailable,
// cpe_in_session.
func (u Faults) Clear(ctx context.Context, asked usecases.Asked, fault id.CPEFault) (cpeviews.FaultRow, error) {
	row, err := u.Store.Get(ctx, asked.Org(), fault)
	switch {
	case err != nil:
		return cpeviews.FaultRow{}, err
	case row == nil:
		return cpeviews.FaultRow{}, commands.ErrNoCpeFault()
	case row.GoneAt != nil:
		return *row, nil
	}
	_, err = u.Bus.Execute(ctx, commands.ClearCpeFault{
		CpeID: row.CpeID, Channel: row.Channel, Code: row.Code,
	}, asked.Meta)
	if err != nil {
		return cpeviews.FaultRow{}, err
	}
	return *row, u.Store.Clear(ctx, *row)
}
