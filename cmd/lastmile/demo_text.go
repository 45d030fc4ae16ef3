package main

import (
	"io"
	"net"
	"strings"
	"text/template"
)

// demoScreen is what the demo prints: addresses, accounts, and commands that work as they stand.
var demoScreen = template.Must(template.New("demo").Parse(`
Lastmile is running. Ctrl-C stops it.

  Platform (super_admin)   {{.Root}}/
  Demo ISP                 {{.ISP}}/
  API description          {{.ISP}}/openapi.json
  Payment provider         {{.Provider}}/sim/transactions   (simulated)

  Accounts, all with the password {{.Password}}
    {{.RootEmail}}          super_admin, at the platform's address
    {{.AdminEmail}}    admin of the demo ISP
    {{.SupportEmail}}  support of the demo ISP, reads only

What to try (curl resolves *.localhost by itself):

  # sign in
  TOKEN=$(curl -s {{.ISP}}/auth/login -H 'Content-Type: application/json' \
    -d '{"email":"{{.AdminEmail}}","password":"{{.Password}}"}' | sed 's/.*"accessToken":"\([^"]*\)".*/\1/')

  # who are the customers, and what do they owe
  curl -s "{{.ISP}}/subscribers?limit=3" -H "Authorization: Bearer $TOKEN"

  # find the one who never paid, and send a prompt to the phone
  ID=$(curl -s "{{.ISP}}/subscribers?q=hibiscus" -H "Authorization: Bearer $TOKEN" | sed 's/.*"data":\[{"id":"\([^"]*\)".*/\1/')
  curl -s {{.ISP}}/payments/initiate -H "Authorization: Bearer $TOKEN" -H 'Content-Type: application/json' \
    -d "{\"subscriberId\":\"$ID\",\"amount\":1500}"
  sleep 1   # the customer enters the PIN, the provider calls back
  curl -s "{{.ISP}}/subscribers/$ID/statement" -H "Authorization: Bearer $TOKEN"

  # money that matched nobody
  curl -s "{{.ISP}}/receipts?state=suspense" -H "Authorization: Bearer $TOKEN"

  # the same customer pays the paybill, with the account number as reference
  ACCOUNT=$(curl -s "{{.ISP}}/subscribers/$ID" -H "Authorization: Bearer $TOKEN" | sed 's/.*"accountNumber":"\([^"]*\)".*/\1/')
  curl -s {{.Provider}}/sim/paybill -d "{\"shortCode\":\"{{.Shortcode}}\",\"msisdn\":\"254700000008\",\"amount\":1500,\"billRefNumber\":\"$ACCOUNT\"}"

  # who did what
  curl -s "{{.ISP}}/audit-log?limit=5" -H "Authorization: Bearer $TOKEN"

`))

// printDemo tells where everything is.
func (a *App) printDemo(out io.Writer) error {
	_, port, err := net.SplitHostPort(a.Addr())
	if err != nil {
		return err
	}
	address := func(host string) string { return "http://" + net.JoinHostPort(host, port) }
	return demoScreen.Execute(out, map[string]string{
		"Root": address(a.cfg.ServiceDomain), "ISP": address(demoSlug + "." + a.cfg.ServiceDomain), "Provider": strings.TrimSuffix(a.provider, "/"),
		"Password": demoPassword.Reveal(), "RootEmail": demoRootEmail, "AdminEmail": demoAdminEmail, "SupportEmail": demoSupportEmail,
		"Shortcode": demoShortcode,
	})
}
