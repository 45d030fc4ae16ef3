package radius_test

import (
	"os/exec"
	"strings"
	"testing"

	"github.com/lastmile-isp/lastmile/radius"
)

func TestRadclient_UnderstandsTheAnswers(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("radclient")
	if err != nil {
		t.Skip("radclient is not installed (Debian's package freeradius-utils)")
	}
	nas, sink := router(localhost), newLedger()
	u := (&users{keys: true, prepared: radius.Attributes{}.MikroTik(8, "5M/10M")}).add(t, nas.Org, "amina", "pw")
	k := start(t, u, sink, radius.Limits{}, nas)
	access, accounting := k.server.AccessAddr().String(), k.server.AccountingAddr().String()
	for name, c := range map[string]struct {
		server, command, attributes string
		want                        []string
	}{
		"PAP": {access, "auth", "User-Name=amina,User-Password=pw", []string{"Received Access-Accept", "5M/10M"}},
		"CHAP with authenticator": {
			access, "auth", "User-Name=amina,CHAP-Password=pw,Message-Authenticator=0x00",
			[]string{"Received Access-Accept"},
		},
		"MS-CHAP":        {access, "auth", "User-Name=amina,MS-CHAP-Password=pw", []string{"Received Access-Accept"}},
		"wrong password": {access, "auth", "User-Name=amina,User-Password=x", []string{"Received Access-Reject"}},
		"unknown user":   {access, "auth", "User-Name=x,User-Password=x", []string{"Access-Reject", "Reply-Message"}},
		"status":         {access, "status", "Message-Authenticator=0x00", []string{"Received Access-Accept"}},
		"accounting": {
			accounting, "acct", "Acct-Status-Type=Start,Acct-Session-Id=81a00012,User-Name=amina",
			[]string{"Received Accounting-Response"},
		},
		"status of accounting": {
			accounting, "status", "Message-Authenticator=0x00", []string{"Received Accounting-Response"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.CommandContext(t.Context(), program, "-x", "-r", "1", c.server, c.command, string(secret))
			cmd.Stdin = strings.NewReader(c.attributes + "\n")
			out, err := cmd.CombinedOutput()
			if err != nil && !strings.Contains(string(out), "Access-Reject") { // a reject makes it fail
				t.Errorf("%v: %s", err, out)
			}
			for _, want := range c.want {
				if !strings.Contains(string(out), want) {
					t.Errorf("without %q: %s", want, out)
				}
			}
		})
	}
}
