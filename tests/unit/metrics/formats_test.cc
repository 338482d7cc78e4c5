// Each format as real programs print it, and what the reader tells of it.
#include <gtest/gtest.h>

#include "told.h"

namespace sabath {
namespace {

struct Case {
  const char* name;
  std::string text;
  Lines expected;
  MetricReaderOptions options = {};
};

void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

std::vector<Case> keras_cases() {
  return {
      {"KerasOld",
       "Train on 15 samples, validate on 8 samples\nEpoch 1/75\n"
       "15/15 [==============================] - 16s 1ms/step - loss: 0.6867 - conv2d_13_loss: 0.0408 - val_loss: "
       "0.4768\n\n"
       "Epoch 00001: val_loss improved from inf to 0.47680, saving model to wts4/weights.01.hdf5\n",
       {"e1 loss=0.6867", "e1 conv2d_13_loss=0.0408", "e1 val_loss=0.4768", "e1 epoch_time=16", "e1 step_time=0.001"}},
      {"KerasSample",
       "Epoch 2/10\n5808128/5836099 [============================>.] - ETA: 0s - loss: 0.0021\n"
       "5836099/5836099 [==============================] - 9s 1us/sample - loss: 0.0021 - val_loss: 7.9952e-07\n",
       {"e2 loss=0.0021", "e2 val_loss=7.9952e-07", "e2 epoch_time=9", "e2 sample_time=1e-06"}},
      {"KerasVerbose2",
       "Epoch 1/128\n313/313 - 0s - loss: 0.0778 - accuracy: 0.9777 - 358ms/epoch - 1ms/step\n",
       {"e1 loss=0.0778", "e1 accuracy=0.9777", "e1 epoch_time=0.358", "e1 step_time=0.001"}},
      {"KerasVerbose2Old",
       "Epoch 1/3\n - 9s - loss: nan - val_loss: inf\nEpoch 2/3\n - 8s - loss: -1.5\n",
       {"e1 loss=nan", "e1 val_loss=inf", "e1 epoch_time=9", "e2 loss=-1.5", "e2 epoch_time=8"}},
      {"KerasVerbose2Keras3",
       "Epoch 4/9\n313/313 - 7s - 4ms/step - loss: 0.4903 - val_loss: 0.1\n",
       {"e4 loss=0.4903", "e4 val_loss=0.1", "e4 epoch_time=7", "e4 step_time=0.004"}},
      {"Keras3",
       "Epoch 1/2\n  12/1534 ━━━━━━━━━━━━━━━━━━━━ 6s 4ms/step - loss: 0.9\n"
       "1534/1534 ━━━━━━━━━━━━━━━━━━━━ 0s 4ms/step - loss: 0.4903\n"
       "1534/1534 ━━━━━━━━━━━━━━━━━━━━ 7s 4ms/step - loss: 0.4903 - val_loss: 0.0191\nEpoch 2/2\n"
       "1534/1534 ━━━━━━━━━━━━━━━━━━━━ 0s 4ms/step - loss: 0.3\n"
       "1534/1534 ━━━━━━━━━━━━━━━━━━━━ 8s 4ms/step - loss: 0.3\n"
       "48/48 ━━━━━━━━━━━━━━━━━━━━ 1s 2ms/step - loss: 0.2\n",
       {"e1 loss=0.4903", "e1 val_loss=0.0191", "e1 epoch_time=7", "e1 step_time=0.004", "e2 loss=0.3",
        "e2 epoch_time=8", "e2 step_time=0.004", "loss=0.2", "evaluation_time=1", "step_time=0.002"}},
      {"Keras3OnATerminal",
       "Epoch 1/2\n\r\x1b[1m12/15\x1b[0m \x1b[32m━━━━\x1b[0m\x1b[37m━\x1b[0m \x1b[1m6s\x1b[0m 4ms/step - loss: 0.9"
       "\b\b\b\b\b\b\b\b\b\r\x1b[1m15/15\x1b[0m \x1b[32m━━━━━\x1b[0m \x1b[1m0s\x1b[0m 4ms/step - loss: "
       "0.5\b\b\b\b\b\b\r"
       "\x1b[1m15/15\x1b[0m \x1b[32m━━━━━\x1b[0m \x1b[1m7s\x1b[0m 4ms/step - loss: 0.5 - val_loss: 0.4\n",
       {"e1 loss=0.5", "e1 val_loss=0.4", "e1 epoch_time=7", "e1 step_time=0.004"}},
      {"KerasOnATerminal",
       "Epoch 7/9\n\r 1/10 [==>...........] - ETA: 3s - loss: 0.9\b\b\b\b\b\r10/10 [====] - ETA: 0s - loss: 0.7"
       "\b\b\b\b\b\r10/10 [====] - 3s 280ms/step - loss: 0.7 - val_loss: 0.6\nEpoch 8/9\n",
       {"e7 loss=0.7", "e7 val_loss=0.6", "e7 epoch_time=3", "e7 step_time=0.28"}},
      {"KerasEvaluate",
       "Epoch 1/1\n5/5 [====] - 1s 2ms/step - loss: 0.5\n5/5 [====] - 0s 1ms/step - loss: 0.4\n",
       {"e1 loss=0.5", "e1 epoch_time=1", "e1 step_time=0.002", "loss=0.4", "evaluation_time=0", "step_time=0.001"}},
      {"KerasUnknownTotal",
       "Epoch 1/2\n    478/Unknown - 46s 28ms/step - loss: 0.7453\n478/478 [====] - 50s 28ms/step - loss: 0.7\n",
       {"e1 loss=0.7", "e1 epoch_time=50", "e1 step_time=0.028"}},
      {"KerasWithoutAHeader",
       "89/89 [====] - 0s 4ms/step - loss: 0.0020\nEpoch 17502/20000\n89/89 [====] - 0s 4ms/step - loss: 0.0016\n",
       {"loss=0.002", "epoch_time=0", "step_time=0.004", "e17502 loss=0.0016", "e17502 epoch_time=0",
        "e17502 step_time=0.004"}},
      {"KerasCutOff", "Epoch 1/2\n89/89 [====] - 0s 4ms/step - loss", {}},
  };
}

std::string mllog(const std::string& rest) {
  return ":::MLLOG {\"namespace\": \"\", \"time_ms\": 2500, " + rest + "}\n";
}

std::vector<Case> mlperf_cases() {
  return {
      {"MlperfValue",
       mllog(
           R"("event_type": "POINT_IN_TIME", "key": "eval_error", "value": 0.366, "metadata": {"file": "a\"b", "lineno": 498, "epoch_num": 0})"),
       {"e0 eval_error=0.366"}},
      {"MlperfStats",
       mllog(
           R"("key": "tracked_stats", "value": {"throughput": 41701.5}, "metadata": {"epoch_num": 1, "step": 0, "instance": 0})"),
       {"e1 s0 throughput=41701.5"}},
      {"MlperfNaN",
       mllog(R"("key": "eval_loss", "value": NaN, "metadata": {"epoch_num": 3840, "step_num": 58})"),
       {"e3840 s58 eval_loss=nan"}},
      {"MlperfSeeds",
       mllog(R"("key": "seed", "value": "17", "metadata": {})") +
           mllog(R"("key": "seed", "value": 18, "metadata": {})"),
       {"seed=17", "seed=18"}},
      {"MlperfTextsAndTruths",
       mllog(R"("key": "submission_org", "value": "Inf", "metadata": {})") +
           mllog(R"("key": "cache_clear", "value": true, "metadata": {})") +
           mllog(R"("key": "cache_clear", "value": null, "metadata": {})"),
       {}},
      {"MlperfLists",
       mllog(R"("key": "factor", "value": [0.25, 0.125], "metadata": {"lr": [0.5, 0.5], "epoch_num": 2})"),
       {"e2 factor[0]=0.25", "e2 factor[1]=0.125", "e2 lr[0]=0.5", "e2 lr[1]=0.5"}},
      {"MlperfIntervals",
       mllog(R"("event_type": "INTERVAL_START", "key": "staging_start", "value": null, "metadata": {"lineno": 3})") +
           ":::MLLOG {\"time_ms\": 7500, \"event_type\": \"INTERVAL_START\", \"key\": \"staging_stop\", \"value\": "
           "null, \"metadata\": {\"staging_duration\": 5.1}}\n",
       {"staging_duration=5.1", "staging_time=5"}},
      {"MlperfEpochTime",
       mllog(R"("key": "epoch_start", "metadata": {"epoch_num": 4})") +
           ":::MLLOG {\"time_ms\": 4000, \"key\": \"epoch_stop\", \"metadata\": {}}\n",
       {"e4 epoch_time=1.5"}},
      {"MlperfTwoOnALine",
       "warning:::MLLOG {\"key\": \"a\", \"value\": 1}:::MLLOG {\"key\": \"b\", \"value\": 2} tail\n",
       {"a=1", "b=2"}},
      {"MlperfTorn", ":::MLLOG {\"key\": \"a\", \"val:::MLLOG {\"key\": \"b\", \"value\": 2}\n", {"b=2"}},
      {"MlperfSrun",
       "  0: :::MLLOG {\"key\": \"a\", \"value\": 1}\n 17: :::MLLOG {\"key\": \"a\", \"value\": 2}\r\n",
       {"r0 a=1", "r17 a=2"}},
  };
}

std::vector<Case> other_cases() {
  return {
      {"Lightning",
       "Finding best initial lr: 100%|██████████| 100/100 [00:09<00:00,  9.40it/s]Restoring states\n"
       "Epoch 11: 100%|██████████| 32/32 [00:03<00:00,  9.82it/s, loss=nan, v_num=33632, total_val_loss=nan.0, "
       "best=yes]  \n",
       {"e11 loss=nan", "e11 v_num=33632", "e11 total_val_loss=nan", "e11 epoch_time=3",
        "e11 iterations_per_second=9.82"}},
      {"LightningOnATerminal",
       "Epoch 0:   3%|▎   | 1/32 [00:00<00:03,  9.8it/s, loss=9]\rEpoch 0: 100%|██| 32/32 [00:03<00:00,  9.8it/s, "
       "loss=1]\r"
       "Epoch 0: 100%|██| 32/32 [00:04<00:00,  8it/s, loss=1, val=2]\rEpoch 1:   0%|  | 0/32 [00:00<?, ?it/s, loss=1, "
       "val=2]\r"
       "Epoch 1: 100%|██| 32/32 [00:04<00:00,  8it/s, loss=0.5, val=2]\n",
       {"e0 loss=1", "e0 val=2", "e0 epoch_time=4", "e0 iterations_per_second=8", "e1 loss=0.5", "e1 val=2",
        "e1 epoch_time=4", "e1 iterations_per_second=8"}},
      {"TqdmSlow",
       "Epoch 3/10: 100%|██| 2/2 [01:02:03<00:00, 2.00s/it, loss=0.5]\n",
       {"e3 loss=0.5", "e3 epoch_time=3723", "e3 iterations_per_second=0.5"}},
      {"Ptychonn",
       "Epoch: 0 | FT  | Train Loss: 0.72994 | Val Loss: 0.66021\nSaving improved model after Val Loss improved from "
       "inf to 0.66021\n"
       "Epoch: 0 | Amp | Train Loss: 0.0810 | Val Loss: 0.0223\nEpoch: 0 | Ending LR: 0.000250 \n",
       {"e0 FT Train Loss=0.72994", "e0 FT Val Loss=0.66021", "e0 Amp Train Loss=0.081", "e0 Amp Val Loss=0.0223",
        "e0 Ending LR=0.00025"}},
      {"Prints",
       "Epoch [3/10], Step [10/20], Loss: 0.25\nTrain Epoch: 1 [640/60000 (1%)]\tLoss: 2.300\nepoch=4 loss=0.5 "
       "acc=97.5% t=3.2s\n"
       "Epoch 5 done in 12:30:05, time: 12:30:05, date: 2020-01-01, v: 1.2.3\n",
       {"e3 s10 Loss=0.25", "e1 s640 Loss=2.3", "e4 loss=0.5", "e4 acc=97.5", "e4 t=3.2"}},
      {"CosmoFlow",
       "2020-09-26 03:13:12,345 INFO Staging 8 files to /tmp\n2020-09-26 03:13:12,345 INFO Total epoch time: 12.500\n"
       "2020-09-26 03:13:12,345 INFO Best result:\n2020-09-26 03:13:12,345 INFO   epoch: 7\n2020-09-26 03:13:12,345 "
       "INFO   val_loss: 0.123\n"
       "2020-09-26 03:13:12,345 INFO Mean epoch time: 1.5\nFoM: 0.123\n",
       {"Total epoch time=12.5", "best epoch=7", "best val_loss=0.123", "Mean epoch time=1.5", "FoM=0.123"}},
      {"Ignite",
       "Epoch[1] Iteration[20/100] Loss: 2.31\nEpoch[1] Iteration[40/100] Loss: 2.125\n"
       "2020-09-26 03:13:12,345 INFO Epoch[2/20] Iteration[10/100], Loss: 0.5\n",
       {"e1 s20 Loss=2.31", "e1 s40 Loss=2.125", "e2 s10 Loss=0.5"}},
      {"Versions",
       "2020-09-26 03:13:12,345 INFO cuda version: 12.6\nINFO:root:PyTorch Version: 2.1\ncuda version: 12.6\n"
       "2020-09-26 03:13:12,345 INFO val_loss: 0.5\n",
       {"val_loss=0.5"}},
      {"Sciml",
       "<BEGIN> Running benchmark slstr_cloud in training mode\n....<BEGIN> Epoch 1\n........<MESSG> Batch: 0, Train "
       "Loss:  0.69315\n"
       "....<ENDED> Epoch 1 [ELAPSED = 12.345678 sec]\n....<MESSG> Epoch 1, Train Loss: 0.5, Test Loss: 0.6, Train "
       "Acc:  0.70, Test Acc:  0.71\n",
       {"e1 s0 Train Loss=0.69315", "e1 epoch_time=12.345678", "e1 Train Loss=0.5", "e1 Test Loss=0.6",
        "e1 Train Acc=0.7", "e1 Test Acc=0.71"}},
      {"Horovod",
       "[1,0]<stdout>:Epoch 1/2\n[1,1]<stdout>:Epoch 2/2\n[1,0]<stdout>: - 9s - loss: 0.5\n[1,1]<stderr>: - 9s - loss: "
       "0.4\n",
       {"e1 r0 loss=0.5", "e1 r0 epoch_time=9", "e2 r1 loss=0.4", "e2 r1 epoch_time=9"}},
      {"Csv",
       "epoch,loss,lr,val_loss\n0,0.5,1e-3,0.25\n1,nan,,\"[1, 2]\"\nnot,a,row\n2,0.4,0.1,0.2,9\n3,0.1,0.1,0.1\n",
       {"e0 loss=0.5", "e0 lr=0.001", "e0 val_loss=0.25", "e1 loss=nan", "e3 loss=0.1", "e3 lr=0.1",
        "e3 val_loss=0.1"}},
      {"CsvPadded",
       "                  epoch,         train/box_loss,       metrics/mAP50(B)\n"
       "                      1,                    3.1,                  0.016\n"
       "                      2,                    2.9,                       \n",
       {"e1 train/box_loss=3.1", "e1 metrics/mAP50(B)=0.016", "e2 train/box_loss=2.9"}},
      {"CsvOfARunPadded", " epoch, name, value\n 3, a, 0.5\n", {"e3 a=0.5"}},
      {"CsvOfARun", "time,epoch,step,rank,name,value\n12.5,3,,0,\"a,b\",NaN\n", {"e3 r0 a,b=nan"}},
      {"Json",
       "{\"epoch\": 3, \"loss\": NaN, \"train\": {\"acc\": 0.5}, \"betas\": [1, 2], \"time\": 12.5}\n{\"seed\": "
       "3}\n{'loss': 0.5, 'epoch': 1.5, 'ok': True}\n",
       {"e3 loss=nan", "e3 train.acc=0.5", "e3 betas[0]=1", "e3 betas[1]=2", "e3 time=12.5", "e1.5 loss=0.5"}},
      {"Record",
       R"({"time":1732180000.25,"epoch":3,"step":7,"rank":2,"name":"a \u00e4","value":"-Infinity"})"
       "\n",
       {"e3 s7 r2 a ä=-inf"}},
      {"Sabath",
       R"(noise:::SABATH {"time":1732180000.25,"epoch":3,"values":{"loss":0.12,"time":5}})"
       "\n",
       {"e3 loss=0.12", "e3 time=5"}},
      {"NumbersBeyondAllBounds", "epoch=1 step=99999999999999999999 a=1e-999 b=-1e999\n", {"e1 a=0", "e1 b=-inf"}},
      {"Garbage",
       std::string(
           "Epoch\nEpoch x/y\n1/1\n/\n[\n[00:\n\x1b[\n\x1b\n:::MLLOG\n:::MLLOG {\n{\n,,,\nTotal params: 104\n\0\0\n",
           76),
       {}},
  };
}

// What follows a number cannot belong to it.
std::vector<Case> number_cases() {
  return {
      {"NumberGroups",
       "epoch=1 rows/s=98,765.5 loss=0.5 seen=4,321\nepoch=2 rows=7,654,321 a=1_000_000 b=2'500.25 c=-1,234.5\n",
       {"e1 rows/s=98765.5", "e1 loss=0.5", "e1 seen=4321", "e2 rows=7654321", "e2 a=1000000", "e2 b=2500.25",
        "e2 c=-1234.5"}},
      {"NumberOfTwoMeanings",
       "Epoch: 3 | Loss: 0,75 | Acc: 1,234\nepoch=4 loss=1.234,56 acc=12,34 mae=1,2345 iou=0,123 mse=1,23,456\n",
       {}},
      {"NumberListsAndVersions",
       "epoch=1 a=0.5,0.25 b=1.2.3 c=2026.11.27 d=3 e=4,f=5\n",
       {"e1 d=3", "e1 e=4", "e1 f=5"}},
      {"NumberUnits",
       "epoch=1 a=1.5k b=2Mtok/s c=3.5GiB d=20ms e=2min f=7img/s g=40% h=250us i=1.2Kit/s j=2 KiB, k=5 ms\n"
       "epoch=2 a=3m b=7B c=12ab d=5Total e=0x1f f=2m30s g=9Foo/s h=0.5s\n",
       {"e1 a=1500", "e1 b=2000000", "e1 c=3758096384", "e1 d=0.02", "e1 e=120", "e1 f=7", "e1 g=40", "e1 h=0.00025",
        "e1 i=1200", "e1 j=2048", "e1 k=0.005", "e2 h=0.5"}},
      {"NumberBarScales",
       "Epoch 2: 100%|██| 80/80 [00:40<00:00, 2.5Kit/s, loss=0.5, tok=12,345.5, bad=0,25]\n"
       "Epoch 3:  99%|██| 1.19k/1.20k [00:10<00:00, 99it/s, loss=0.9]\n"
       "Epoch 3: 100%|██| 1.20k/1.20k [00:10<00:00, 1.1k tokens/s, loss=0.4]\n",
       {"e2 loss=0.5", "e2 tok=12345.5", "e2 epoch_time=40", "e2 iterations_per_second=2500", "e3 loss=0.4",
        "e3 epoch_time=10", "e3 iterations_per_second=1100"}},
      {"NumberQuotedByItsProgram",
       "{'loss': '0.75', 'learning_rate': '5e-05', 'note': 'x', 'epoch': '1.5'}\n{'version': '3', 'epoch': 2, 'a': "
       "1}\n",
       {"e1.5 loss=0.75", "e1.5 learning_rate=5e-05", "e2 a=1"}},
      {"NumberBehindAByteOrderMark",
       "\xef\xbb\xbf"
       "epoch=1 loss=2\n\xef\xbb\xbf"
       "epoch,a\n5,6\n",
       {"e1 loss=2", "e5 a=6"}},
      {"NumberCsvIndex",
       ",epoch,loss,rows\n0,3,0.5,\"1,234.5\"\n1,4,0.25,\"0,5\"\n",
       {"e3 loss=0.5", "e3 rows=1234.5", "e4 loss=0.25"}},
  };
}

std::vector<Case> front_cases() {
  return {
      {"FrontOfPythonsLoggers",
       "2026-01-02 03:04:05,678 - root - INFO - Epoch 1 | loss: 0.5\nINFO:__main__:Epoch 2, loss: 0.25\n"
       "2026-01-02 03:04:05.678 | INFO     | __main__:train:42 - Epoch 3: loss 0.125\n"
       "[2026-01-02 03:04:05,678][train][INFO] - Epoch 4 loss: 0.75\n2026-01-02 03:04:05,678 - x - INFO - mae: 0.5\n"
       "INFO: a b: 0.5\n",
       {"e1 loss=0.5", "e2 loss=0.25", "e3 loss=0.125", "e4 loss=0.75", "mae=0.5"}},
      {"PythonsNamesForNumbers",
       "{'loss': np.float64(0.5), 'acc': tensor(0.25), 'epoch': 3}\n{'loss': np.float64(0.5, 'epoch': 3}\n"
       "Epoch 4 | loss: tensor(1.5000, device='cuda:0', grad_fn=<MeanBackward0>) | acc: np.float32(0.75)\n",
       {"e3 loss=0.5", "e3 acc=0.25", "e4 loss=1.5", "e4 acc=0.75"}},
      {"CsvByTabs", "epoch\tloss\n3\t0.5\n", {"e3 loss=0.5"}},
      {"CsvBySemicolons", "epoch;loss;rows\n3;0.5;1,234\n4;0,5;1,234,567\n", {"e3 loss=0.5", "e4 rows=1234567"}},
  };
}

// A summary is told as figures of its own, even if it names an epoch.
std::vector<Case> summary_cases() {
  return {
      {"SummaryPlain",
       "epoch=2 loss=0.4\nFinal scores:\n  epoch: 2\n  loss: 0.9\nEpoch 3 | loss: 0.3\n  loss: 0.8\n",
       {"e2 loss=0.4", "final epoch=2", "final loss=0.9", "e3 loss=0.3"}},
      {"SummaryIsNoWordsBegin", "Finally done:\n  epoch: 2 loss: 0.9\n", {"e2 loss=0.9"}},
  };
}

std::vector<Case> shape_cases() {
  return {
      {"ShapeDetectron2",
       "[01/02 03:04:05 d2.utils.events]:  eta: 1:02:03  iter: 39  total_loss: 1.5  loss_mask: 0.5    time: 0.25  "
       "last_time: 0.5   lr: 0.002  max_mem: 3000M\n",
       {"s39 total_loss=1.5", "s39 loss_mask=0.5", "s39 time=0.25", "s39 last_time=0.5", "s39 lr=0.002",
        "s39 max_mem=3000000000"}},
      {"ShapeImageNet",
       "Epoch: [4][ 20/626]\tTime  0.250 ( 0.500)\tLoss 6.5e+00 (6.75e+00)\tAcc@1   1.50 (  1.25)\n"
       "Test: [ 0/49]\tLoss 2.5e+00 (2.5e+00)\n *   Acc@1 40.500 Acc@5 70.250\n",
       {"e4 s20 Time=0.25", "e4 s20 Time avg=0.5", "e4 s20 Loss=6.5", "e4 s20 Loss avg=6.75", "e4 s20 Acc@1=1.5",
        "e4 s20 Acc@1 avg=1.25", "e4 s0 Test Loss=2.5", "e4 s0 Test Loss avg=2.5", "e4 Acc@1=40.5", "e4 Acc@5=70.25"}},
      {"ShapeMetricLogger",
       "Epoch: [2]  [  10/1252]  eta: 0:20:30  lr: 0.125  img/s: 101.5 (99.5)  loss: 6.5 (6.75)  max mem: 8123\n"
       "Test:  Acc@1 50.5 Acc@5 75.25\n",
       {"e2 s10 lr=0.125", "e2 s10 img/s=101.5", "e2 s10 img/s avg=99.5", "e2 s10 loss=6.5", "e2 s10 loss avg=6.75",
        "e2 s10 max mem=8123", "e2 Test Acc@1=50.5", "e2 Test Acc@5=75.25"}},
      {"ShapeMnist",
       "Train Epoch: 1 [640/60000 (1%)]\tLoss: 2.25\n\nTest set: Average loss: 0.0625, Accuracy: 9750/10000 (98%)\n",
       {"e1 s640 Loss=2.25", "e1 Test set Average loss=0.0625", "e1 Test set Accuracy=98"}},
      {"ShapeTimm",
       "Train: 7 [  50/1251 (  4%)]  Loss: 6.5 (6.75)  Time: 0.5s, 512.25/s  (0.5s, 512.25/s)  LR: 1.000e-06\n",
       {"e7 s50 Train Loss=6.5", "e7 s50 Train Loss avg=6.75", "e7 s50 Train Time=0.5", "e7 s50 Train LR=1e-06"}},
      {"ShapeMmengine",
       "2026/01/02 03:04:05 - mmengine - INFO - Epoch(train)  [3][ 50/196]  lr: 1.0e-01  eta: 0:01:02  loss: 1.5\n"
       "2026/01/02 03:04:05 - mmengine - INFO - Epoch(val) [3][20/20]    accuracy/top1: 61.5  time: 0.25\n"
       "2026-01-02 03:04:05,678 - mmdet - INFO - Epoch [4][50/196]\tlr: 1.0e-02, eta: 1:02:03, loss: 0.5\n"
       "2026/01/02 03:04:05 - mmengine - INFO - Iter(train) [ 100/4000]  loss: 0.25\n",
       {"e3 s50 train lr=0.1", "e3 s50 train loss=1.5", "e3 s20 val accuracy/top1=61.5", "e3 s20 val time=0.25",
        "e4 s50 lr=0.01", "e4 s50 loss=0.5", "e4 s100 train loss=0.25"}},
      {"ShapeMegatron",
       " iteration      200/    800 | consumed samples:         1600 | elapsed time per iteration (ms): 125.5 | "
       "learning rate: 2.5E-04 | lm loss: 7.5E+00 | loss scale: 1.0 |\n"
       "[2026-01-02 03:04:05] iteration      300/    800 | lm loss: 6.5E+00 |\n",
       {"s200 consumed samples=1600", "s200 elapsed time per iteration (ms)=125.5", "s200 learning rate=0.00025",
        "s200 lm loss=7.5", "s200 loss scale=1", "s300 lm loss=6.5"}},
      {"ShapeNanoGpt",
       "step 500: train loss 3.25, val loss 3.5\niter 510: loss 3.125, time 125.50ms, mfu 12.5%\n"
       "step 00010/20000 (0.05%) | loss: 9.5 | dt: 250.00ms | tok/sec: 1,048,576 | total time: 0.10m\n",
       {"s500 train loss=3.25", "s500 val loss=3.5", "s510 loss=3.125", "s510 time=0.1255", "s510 mfu=12.5",
        "s10 loss=9.5", "s10 dt=0.25", "s10 tok/sec=1048576"}},
      {"ShapeDeepSpeed",
       "steps: 20 loss: 2.5 iter time (s): 0.25 samples/sec: 64.5\n",
       {"s20 loss=2.5", "s20 iter time (s)=0.25", "s20 samples/sec=64.5"}},
      {"ShapeFairseq",
       "2026-01-02 03:04:05 | INFO | train | epoch 003 | loss 5.5 | nll_loss 4.25 | ppl 18.5 | wps 1234.5\n",
       {"e3 loss=5.5", "e3 nll_loss=4.25", "e3 ppl=18.5", "e3 wps=1234.5"}},
      {"ShapeXgboost", "[12]\ttrain-rmse:0.25\ttest-rmse:0.5\n", {"s12 train-rmse=0.25", "s12 test-rmse=0.5"}},
      {"ShapeFastai",
       "epoch     train_loss  valid_loss  accuracy  time    \n0         0.750000    0.500000    0.812500  01:02     \n"
       "1         0.500000    0.250000    0.875000  00:59     \n",
       {"e0 train_loss=0.75", "e0 valid_loss=0.5", "e0 accuracy=0.8125", "e0 time=62", "e1 train_loss=0.5",
        "e1 valid_loss=0.25", "e1 accuracy=0.875", "e1 time=59"}},
      {"ShapeUltralytics",
       "      Epoch    GPU_mem   box_loss   cls_loss  Instances       Size\n"
       "        2/3      2.5G      1.125      2.25         17        640:  50%|█████     | 2/4 [00:01<00:01,  "
       "2.0it/s]\r"
       "        2/3      2.5G      1.25       2.5          19        640: 100%|██████████| 4/4 [00:02<00:00,  "
       "2.0it/s]\n"
       "                 Class     Images  Instances      Box(P          R      mAP50  mAP50-95): 100%|██| 1/1\n"
       "                   all          4         17      0.625        0.5       0.75       0.25\n",
       {"e2 GPU_mem=2500000000", "e2 box_loss=1.25", "e2 cls_loss=2.5", "e2 Instances=19", "e2 Size=640",
        "e2 all Images=4", "e2 all Instances=17", "e2 all P=0.625", "e2 all R=0.5", "e2 all mAP50=0.75",
        "e2 all mAP50_95=0.25"}},
      {"ShapeWords",
       "Epoch 007 loss  2.5 | Acc 12.5%\nEpoch 8, train loss 0.5 val loss 0.25 (0.3)\n"
       "Epoch 00009: val_loss improved from 0.5 to 0.25, saving\nEpoch 10 took 5 s with loss 0.5\n",
       {"e7 loss=2.5", "e7 Acc=12.5", "e8 train loss=0.5", "e8 val loss=0.25", "e8 val loss avg=0.3"}},
      {"ShapeBehindAContainersName",
       "trainer-0  | {'loss': 0.5, 'epoch': 2.0}\nworker | {'loss': 1}\nsaved a | {'epoch': 1, 'loss': 3}\n",
       {"e2 loss=0.5"}},
  };
}

class Formats : public testing::TestWithParam<Case> {};

TEST_P(Formats, TellsWhatTheLinesSay) { EXPECT_EQ(told(GetParam().text, GetParam().options), GetParam().expected); }

TEST_P(Formats, CutAnywhere) {
  for (const std::size_t piece : {1U, 2U, 3U, 7U, 64U})
    EXPECT_EQ(told(GetParam().text, GetParam().options, piece), GetParam().expected) << piece;
}

TEST_P(Formats, LinesOfWindows) {
  std::string text;
  for (const char c : GetParam().text) text += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(told(text, GetParam().options), GetParam().expected);
}

const auto name_of = [](const auto& info) { return std::string(info.param.name); };
INSTANTIATE_TEST_SUITE_P(Keras, Formats, testing::ValuesIn(keras_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Mlperf, Formats, testing::ValuesIn(mlperf_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Numbers, Formats, testing::ValuesIn(number_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Fronts, Formats, testing::ValuesIn(front_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Summaries, Formats, testing::ValuesIn(summary_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Shapes, Formats, testing::ValuesIn(shape_cases()), name_of);
INSTANTIATE_TEST_SUITE_P(Other, Formats, testing::ValuesIn(other_cases()), name_of);

}  // namespace
}  // namespace sabath
