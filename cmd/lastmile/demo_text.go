package main

import (
	"io"
	"net"
	"strconv"
	"strings"
	"text/template"

	"github.com/lastmile-isp/lastmile/simulators/acs"
	"github.com/lastmile-isp/lastmile/simulators/router"
	"github.com/lastmile-isp/lastmile/simulators/terminals"
)

// demoScreen is printed by the demo: addresses, users, and commands that work as they stand.
var demoScreen = template.Must(template.New("demo").Parse(`
Lastmile is running. Ctrl-C stops it.

  Demo ISP                 {{.ISP}}/app/   in a browser
  Customers' portal        {{.ISP}}/portal/   sign in with {{.Customer}};
                           the code is at {{.ISP}}/dev/messages
  Platform (super_admin)   {{.Root}}/app/
  API description          {{.ISP}}/docs, for programs {{.ISP}}/openapi.json
  Payment provider         {{.Provider}}/sim/transactions   (simulated)
  Routers                  {{.Routers}}/sim/routers   (simulated)
  Customers' devices       {{.ACS}}/sim/devices   (simulated)
  Optical terminals        {{.OLT}}/sim/onus   (simulated)
  Tax authority            {{.Tax}}/sim/documents   (simulated; off until Settings, Tax gateway turns it on
                           with this address, any device and branch, and the secret {{.TaxSecret}})

  Users, all with the password {{.Password}}
    {{.RootEmail}}          super_admin, at the platform's address
    {{.AdminEmail}}    admin of the demo ISP
    {{.SupportEmail}}  support of the demo ISP, reads, and answers support requests

What to try (curl resolves *.localhost by itself):

  # sign in
  TOKEN=$(curl -s {{.ISP}}/auth/login -H 'Content-Type: application/json' \
    -d '{"email":"{{.AdminEmail}}","password":"{{.Password}}"}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')

  # who are the customers, and what do they owe
  curl -s "{{.ISP}}/subscribers?limit=3" -H "Authorization: Bearer $TOKEN"

  # find the customer who never paid, and send a prompt to the phone
  ID=$(curl -s "{{.ISP}}/subscribers?q=hibiscus" -H "Authorization: Bearer $TOKEN" \
    | sed 's/.*"data":\[{"id":"\([^"]*\)".*/\1/')
  curl -s {{.ISP}}/payments/initiate -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d "{\"subscriberId\":\"$ID\",\"amount\":1500}"
  sleep 1   # the customer enters the PIN, the provider calls back
  curl -s "{{.ISP}}/subscribers/$ID/statement" -H "Authorization: Bearer $TOKEN"

  # money that matched no customer
  curl -s "{{.ISP}}/receipts?state=suspense" -H "Authorization: Bearer $TOKEN"

  # the same customer pays the paybill, with the account number as reference
  ACCOUNT=$(curl -s "{{.ISP}}/subscribers/$ID" -H "Authorization: Bearer $TOKEN" \
    | sed 's/.*"accountNumber":"\([^"]*\)".*/\1/')
  curl -s {{.Provider}}/sim/paybill \
    -d "{\"shortCode\":\"{{.Shortcode}}\",\"msisdn\":\"254700000008\",\"amount\":1500,\"billRefNumber\":\"$ACCOUNT\"}"

  # a customer in the walled garden pays without a sign-in, also in a browser at {{.ISP}}/pay
  curl -s {{.ISP}}/pay -H 'Content-Type: application/json' -d "{\"account\":\"$ACCOUNT\"}"

  # the routers, as they were polled last; one of them has drifted, and one has no power
  curl -s "{{.ISP}}/nas/fleet" -H "Authorization: Bearer $TOKEN"
  NAS=$(curl -s "{{.ISP}}/nas/devices?limit=1" -H "Authorization: Bearer $TOKEN" \
    | sed 's/.*"data":\[{"id":"\([^"]*\)".*/\1/')
  curl -s "{{.ISP}}/nas/devices/$NAS/drift" -H "Authorization: Bearer $TOKEN"

  # repair it, look at who is online, reboot it
  curl -s -X POST "{{.ISP}}/nas/devices/$NAS/reconcile" -H "Authorization: Bearer $TOKEN"
  curl -s "{{.ISP}}/nas/devices/$NAS/sessions" -H "Authorization: Bearer $TOKEN"
  curl -s -X POST "{{.ISP}}/nas/devices/$NAS/reboot" -H "Authorization: Bearer $TOKEN"

  # who is online over RADIUS, and what they use; the addresses and counters are those of the routers' sessions
  curl -s "{{.ISP}}/sessions?online=true&limit=3" -H "Authorization: Bearer $TOKEN"

  # why is a customer on or off, and what happened; docs/access.md explains each answer
  curl -s "{{.ISP}}/subscribers/$ID/access" -H "Authorization: Bearer $TOKEN"
  curl -s "{{.ISP}}/subscribers/$ID/timeline" -H "Authorization: Bearer $TOKEN"

  # what the customer sees: staff give the phone access to the portal, and it signs in by a code
  curl -s -X POST "{{.ISP}}/subscribers/$ID/portal-access" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' -d '{}'
  curl -s {{.ISP}}/auth/otp/send -H 'Content-Type: application/json' -d '{"identifier":"+254700000008"}'
  sleep 1   # the code is sent; the demo shows it instead
  CODE=$(curl -s "{{.ISP}}/dev/messages?to=%2B254700000008" | grep -o 'code is [0-9]*' | head -1 | grep -o '[0-9]*')
  MINE=$(curl -s {{.ISP}}/auth/otp/verify -H 'Content-Type: application/json' \
    -d "{\"identifier\":\"+254700000008\",\"code\":\"$CODE\"}" | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
  curl -s {{.ISP}}/me/subscribers -H "Authorization: Bearer $MINE"

  # a sign-in by hand (Debian's package freeradius-utils); {{.Login}}<username> is everybody's password on the network
  echo 'User-Name=acacia,User-Password={{.Login}}acacia,Message-Authenticator=0x00' \
    | radclient -x {{.Radius}} auth {{.Secret}}tower-north

  # what a customer's device does; switch it off, and on: it dials by itself
  curl -s {{.Routers}}/sim/routers/tower-north/customers/acacia
  curl -s -X PUT {{.Routers}}/sim/routers/tower-north/customers/acacia/power -d '{"on":false}'
  curl -s -X PUT {{.Routers}}/sim/routers/tower-north/customers/acacia/power -d '{"on":true}'

  # register the spare router (user admin, password {{.RouterPassword}}), paste its script, make a service on a port
  NEW=$(curl -s {{.ISP}}/nas/devices -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"name":"spare","ipAddress":"127.0.0.1","coaPort":{{.SpareCoA}},"radiusSecret":"spareradius1",'\
'"managementAddress":"{{.Spare}}"}' \
    | sed 's/^{"id":"\([^"]*\)".*/\1/')
  curl -s "{{.ISP}}/nas/devices/$NEW/bootstrap-script" -H "Authorization: Bearer $TOKEN" > bootstrap.rsc
  curl -s -X POST "{{.Routers}}/sim/routers/spare/paste" --data-binary @bootstrap.rsc
  curl -s -X POST "{{.ISP}}/nas/devices/$NEW/services" -H "Authorization: Bearer $TOKEN" \
    -H 'Content-Type: application/json' -d '{"type":"pppoe","parentInterface":"ether5"}'

  # unplug a router, and see it in the fleet
  curl -s -X PUT {{.Routers}}/sim/routers/tower-north/power -d '{"on":false}'

  # customers' devices: claim the one that waits for it, change its Wi-Fi, and see what became of it
  BOX=$(curl -s "{{.ISP}}/cpe/pending" -H "Authorization: Bearer $TOKEN" | sed 's/.*"data":\[{"id":"\([^"]*\)".*/\1/')
  curl -s -X POST "{{.ISP}}/cpe/pending/$BOX/claim" -H "Authorization: Bearer $TOKEN"
  curl -s "{{.ISP}}/cpe/devices/$BOX/wifi" -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d '{"ssid":"Our new home","password":"eight-or-more"}'
  sleep 5   # the CPE server calls the device, which takes the settings
  curl -s "{{.ISP}}/cpe/devices/$BOX/operations?limit=1" -H "Authorization: Bearer $TOKEN"

  # who did what, down to each write to a router
  curl -s "{{.ISP}}/audit-log?limit=3&action=router.write" -H "Authorization: Bearer $TOKEN"

  # who did what
  curl -s "{{.ISP}}/audit-log?limit=5" -H "Authorization: Bearer $TOKEN"

  # move the clock by an hour: reports come and counters grow; by a month: periods end. Sign in again afterwards.
  # README.md takes a customer through the whole circle in this way: paid, walled in, paid, online again
  ROOT=$(curl -s {{.Root}}/auth/login -H 'Content-Type: application/json' \
    -d '{"email":"{{.RootEmail}}","password":"{{.Password}}"}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')
  curl -s {{.Root}}/dev/clock -H "Authorization: Bearer $ROOT" -H 'Content-Type: application/json' \
    -d '{"advance":"1h"}'

`))

// printDemo writes demoScreen with the addresses and ports of this start.
func (a *App) printDemo(
	out io.Writer, routers *router.Simulator, boxes *acs.Simulator, olt *terminals.Simulator,
) error {
	_, port, err := net.SplitHostPort(a.Addr())
	if err != nil {
		return err
	}
	address := func(host string) string { return "http://" + net.JoinHostPort(host, port) }
	return demoScreen.Execute(out, map[string]string{
		"Root": address(a.cfg.ServiceDomain), "ISP": address(demoSlug + "." + a.cfg.ServiceDomain),
		"Provider": strings.TrimSuffix(a.provider, "/"), "Password": demoPassword.Reveal(), "RootEmail": demoRootEmail,
		"Customer":   "+" + demoPhone(1),
		"AdminEmail": demoAdminEmail, "SupportEmail": demoSupportEmail, "Shortcode": demoShortcode,
		"ACS": boxes.URL(), "OLT": olt.URL(), "Tax": a.taxSimulator, "TaxSecret": demoTaxSecret.Reveal(),
		"Routers": routers.URL(), "Login": demoLogin(""), "Secret": demoRadiusSecret(""),
		"Radius":         a.radius.server.AccessAddr().String(),
		"SpareCoA":       strconv.Itoa(int(routers.Router("spare").Handsets().CoAAddr().Port())),
		"RouterPassword": demoRouterPassword, "Spare": demoRouters[len(demoRouters)-1].address,
	})
}
