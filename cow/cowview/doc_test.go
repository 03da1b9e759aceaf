package main

import _ "github.com/cowstore/cowstore/snapshot/view"
