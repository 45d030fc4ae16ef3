package radius_test

import (
	"context"
	"fmt"
	"net/netip"

	layeh "layeh.com/radius"
	"layeh.com/radius/rfc2865"
	"layeh.com/radius/rfc2866"

	"github.com/lastmile-isp/lastmile/internal/clock"
	"github.com/lastmile-isp/lastmile/internal/id"
	"github.com/lastmile-isp/lastmile/radius"
)

// village is an example of a directory: what it needs is in memory before the first packet.
type village map[string]*radius.Credential

// Find looks a user up without copying the name.
func (v village) Find(_ *radius.NAS, r *radius.Request) *radius.Credential {
	return v[string(r.UserName)]
}

// Decide accepts who proved the password, and tells everybody else why not.
func (v village) Decide(q radius.Question, reply *radius.Reply) {
	switch q.Outcome {
	case radius.Verified:
		reply.Accept(q.Credential.Subject.(radius.Attributes))
	case radius.UnknownUser:
		reply.Reject("This name is not known here.")
	default:
		reply.Reject("The password is wrong.")
	}
}

// Take is an example of a sink. A real one stores the record first.
func (v village) Take(r *radius.Record) {
	fmt.Println("session", r.SessionID, r.Status)
	r.Acknowledge()
}

func Example() {
	ctx := context.Background()
	hash, err := radius.NTHash("pw")
	if err != nil {
		fmt.Println(err)
		return
	}
	directory := village{"amina": {
		Password: []byte("pw"), NTHash: hash,
		Subject: radius.Attributes{}.MikroTik(8, "5M/10M").Number(rfc2865.SessionTimeout_Type, 3600),
	}}
	server, err := radius.New(radius.Config{
		AccessAddr: "127.0.0.1:0", AccountingAddr: "127.0.0.1:0", Directory: directory, Accounting: directory,
		Clock: clock.System(),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	server.SetNAS([]*radius.NAS{{
		ID: id.New[id.Device](), Org: id.New[id.Organization](), Name: "tower", Secret: []byte("xyzzy5461"),
		Own: []netip.Addr{netip.MustParseAddr("127.0.0.1")},
	}})
	if err := server.Start(ctx); err != nil {
		fmt.Println(err)
		return
	}
	defer server.Stop()

	// A router asks, here by the library's client.
	for _, password := range []string{"pw", "guess"} {
		p := layeh.New(layeh.CodeAccessRequest, []byte("xyzzy5461"))
		_ = rfc2865.UserName_SetString(p, "amina")
		_ = rfc2865.UserPassword_SetString(p, password)
		answer, err := layeh.Exchange(ctx, p, server.AccessAddr().String())
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%v, %d s %q\n", answer.Code, rfc2865.SessionTimeout_Get(answer),
			rfc2865.ReplyMessage_GetString(answer))
	}
	p := layeh.New(layeh.CodeAccountingRequest, []byte("xyzzy5461"))
	_ = rfc2866.AcctStatusType_Set(p, rfc2866.AcctStatusType_Value_Start)
	_ = rfc2866.AcctSessionID_SetString(p, "81a00012")
	answer, err := layeh.Exchange(ctx, p, server.AccountingAddr().String())
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(answer.Code)
	// Output:
	// Access-Accept, 3600 s ""
	// Access-Reject, 0 s "The password is wrong."
	// session 81a00012 start
	// Accounting-Response
}
