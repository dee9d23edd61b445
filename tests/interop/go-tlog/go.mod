module railgate/interop/go-tlog

go 1.19

require golang.org/x/mod v0.20.0
