# Management tunnel of Lastmile: SSTP concentrator. Safe to run again.
{
:if ([:len [/ppp profile find where name="lastmile-tunnel"]] = 0) do={ /ppp profile add name="lastmile-tunnel" local-address=10.99.0.1 only-one=yes use-encryption=yes change-tcp-mss=yes } else={ /ppp profile set [find where name="lastmile-tunnel"] local-address=10.99.0.1 only-one=yes use-encryption=yes change-tcp-mss=yes }
:if ([:len [/ppp secret find where name="nas-1"]] = 0) do={ /ppp secret add name="nas-1" password="secretOfOne" service=sstp profile=lastmile-tunnel remote-address=10.99.3.4 disabled=no comment="lastmile-tunnel" } else={ /ppp secret set [find where name="nas-1"] password="secretOfOne" service=sstp profile=lastmile-tunnel remote-address=10.99.3.4 disabled=no comment="lastmile-tunnel" }
:if ([:len [/ppp secret find where name="nas-2"]] = 0) do={ /ppp secret add name="nas-2" password="secretOfTwo" service=sstp profile=lastmile-tunnel remote-address=10.99.7.9 disabled=no comment="lastmile-tunnel" } else={ /ppp secret set [find where name="nas-2"] password="secretOfTwo" service=sstp profile=lastmile-tunnel remote-address=10.99.7.9 disabled=no comment="lastmile-tunnel" }
/ppp secret remove [find where comment="lastmile-tunnel" and name!="nas-1" and name!="nas-2"]
/interface sstp-server server set enabled=yes port=4443 default-profile=lastmile-tunnel certificate="tunnel" authentication=mschap2
:put "tunnel concentrator: 2 routers"
}
