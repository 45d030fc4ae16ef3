package main

import (
	"context"
	"log/slog"

	"github.com/lastmile-isp/lastmile/commands"
	"github.com/lastmile-isp/lastmile/events"
	"github.com/lastmile-isp/lastmile/httpapi"
	"github.com/lastmile-isp/lastmile/httpapi/access"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/internal/personal"
	"github.com/lastmile-isp/lastmile/internal/secrets"
	"github.com/lastmile-isp/lastmile/internal/vouchers"
	"github.com/lastmile-isp/lastmile/projections/access"
	"github.com/lastmile-isp/lastmile/projections/identity"
	"github.com/lastmile-isp/lastmile/projections/network"
	"github.com/lastmile-isp/lastmile/radius"
	"github.com/lastmile-isp/lastmile/radius/directory"
	"github.com/lastmile-isp/lastmile/usecases/access"
)

// voucherCodes makes and finds codes of vouchers under the key of this installation.
func (a *App) voucherCodes() vouchers.Codes {
	return vouchers.NewCodes(a.storage.vault.Key(secrets.Vouchers))
}

// voucherRoutes makes the endpoints of vouchers.
func (a *App) voucherRoutes() []httpapi.Route {
	list := accessviews.VouchersQuery{Views: a.engines.views}
	return accessapi.Vouchers{
		Cases: accesscases.Vouchers{
			Bus: a.engines.bus, Codes: a.voucherCodes(), BatchOf: list.BatchOf, Since: list.Since,
			Unused:          list.Unused,
			PerOrganization: a.cfg.VouchersPerOrganization, Locks: a.storage.db, Clock: a.clock,
		}, List: list, Names: networkviews.DevicesQuery{Views: a.engines.views}.Names, Clock: a.clock,
		Staff: identityviews.UsersQuery{Views: a.engines.views}.Names,
	}.Routes()
}

// recordVoucher records a sign-in with a voucher that the RADIUS server accepted. Its command id follows from the
// sign-in, so to record it again changes nothing.
func (a *App) recordVoucher(ctx context.Context, in directory.VoucherSignIn) error {
	mac := in.MAC.String() // "" = the router did not tell
	_, err := a.engines.bus.Execute(ctx, commands.SignInVoucher{
		Subject: in.Subject, PlanID: in.PlanID, Price: in.Price, MadeBy: in.MadeBy, DeviceID: in.NAS,
		MAC: personal.Of(mac), FirstAt: in.First, EndsAt: in.Ends, At: in.At,
	}, commands.Meta{
		CommandID: id.Derive[id.Command]("voucher-sign-in", in.Subject.VoucherID.String(), mac, in.At.UTC().String()),
		OrgID:     in.Subject.OrgID, Actor: events.Actor{Kind: events.ActorProcess, ID: "radius"},
	})
	return err
}

// warnOfGuessing tells the operator that somebody may be guessing codes of vouchers at a router.
func (a *App) warnOfGuessing(nas *radius.NAS) {
	a.logger.Warn("many wrong voucher codes at a router", slog.String("org_id", nas.Org.String()),
		slog.String("device_id", nas.ID.String()))
}
