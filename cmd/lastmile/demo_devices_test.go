package main

import (
	"context"
	"fmt"
)

// showsBoxes looks at what the demo has of customers' devices: tests with figures, a deployment with every outcome, and
// an ONU with its light. After a later start the terminal has it, too.
func (k *kit) showsBoxes(admin apiClient) {
	k.t.Helper()
	box := func(serial string) string { return k.all(admin, "/cpe/devices?q="+serial)[0].text("id") }
	k.eventually("the tests to have figures", func(ctx context.Context) (bool, error) {
		got, err := admin.call(ctx, "GET", "/cpe/devices/"+box(demoBoxes[0].serial)+"/diagnostics", "", nil)
		return len(got.list("history")) == 3, err
	})
	k.eventually("the deployment to wait for the one without power", func(context.Context) (bool, error) {
		c := k.all(admin, "/cpe/firmware/campaigns")[0]
		got := fmt.Sprint(c["succeeded"], c["failed"], c["pending"], c["skipCount"])
		return got == "1 1 1 2", fmt.Errorf("it is at %s", got)
	})
	for _, b := range demoBoxes {
		if b.onu {
			k.eventually("the ONU to have light", func(ctx context.Context) (bool, error) {
				got, err := admin.call(ctx, "GET", "/cpe/devices/"+box(b.serial)+"/optical", "", nil)
				return got["online"] == true && got.at("vlan") == fmt.Sprint(demoONU.VLAN), err
			})
		}
	}
}
